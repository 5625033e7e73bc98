"""The page: Now, History, Incidents and a page for each user, job, target, … in any browser.

The room serves one shell and the files beside it; whatever is shown the browser asks of the HTTP
interface, as anybody else does. So the page can show nothing that the interface would not tell.
"""
