"""A little mail server on loopback: with or without TLS and login, and difficult when told so."""

import base64
import socketserver
import ssl
import subprocess
import threading
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default


def make_certificate(folder):
    """Return the paths of a certificate for localhost and of its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps the mails that it took; `refuse` answers a word of the protocol with a code."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, certificate=None, starttls=True, login=None):
        super().__init__(("127.0.0.1", 0), _Session)
        self.port = self.server_address[1]
        self.mails = []
        self.senders = []
        self.secured = []
        self.login = login
        self.starttls = starttls and certificate is not None
        self.refuse = {}
        self.tls = None
        if certificate is not None:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*certificate)

    def handle_error(self, request, client_address):
        """Clients of tests go away in the middle."""


class _Session(socketserver.StreamRequestHandler):
    def handle(self):
        self.secure, self.known = False, self.server.login is None
        if self.server.tls and not self.server.starttls:
            self.wrap()
        self.say("220 test")
        while line := self.rfile.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if not self.answer(word.upper(), rest):
                return

    def finish(self):
        super().finish()
        self.rfile.close()
        self.connection.close()

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def wrap(self):
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.secure = True

    def answer(self, word, rest):
        if code := self.server.refuse.get(word):
            self.say(f"{code} not today")
        elif word == "EHLO":
            self.say("250-test")
            if self.server.starttls and not self.secure:
                self.say("250-STARTTLS")
            self.say("250-AUTH PLAIN" if self.server.login else "250 HELP")
            if self.server.login:
                self.say("250 HELP")
        elif word == "STARTTLS" and self.server.starttls:
            self.say("220 go")
            self.wrap()
        elif word == "AUTH":
            user, password = base64.b64decode(rest.split()[1]).decode().split("\0")[1:]
            self.known = (user, password) == self.server.login
            self.say("235 ok" if self.known else "535 wrong")
        elif word == "DATA":
            self.take()
        elif word == "QUIT":
            self.say("221 bye")
            return False
        else:
            self.say("250 ok" if self.known else "530 who are you")
        return True

    def take(self):
        self.say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if code := self.server.refuse.get("END"):
            self.say(f"{code} not today")
            return
        self.server.mails.append(message_from_bytes(b"".join(lines), policy=default))
        self.server.secured.append(self.secure)
        self.say("250 taken")


@contextmanager
def mail_server(**how):
    """Give a running server."""
    with MailServer(**how) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
