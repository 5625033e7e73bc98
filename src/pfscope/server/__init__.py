"""The receiving server: bodies in, frames into the journal, acknowledgements out, then the ingest.

`receive` undoes encodings within limits, `judge` decides about each frame, `journal` makes them
durable, `feeder` takes them to the ingest, `engine` holds these together, `app` is their HTTP face.
"""
