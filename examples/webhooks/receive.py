"""Receives the executions of a deployment, each at least once and in order (docs/webhooks.md), and prints each once.

    WEBHOOK_SECRET=whsec_… TLS_KEY=key.pem TLS_CERT=cert.pem python3 examples/webhooks/receive.py
"""

import base64
import hashlib
import hmac
import json
import os
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
MAX_BYTES = 2 * 1024 * 1024
TOLERANCE_S = 300

one_at_a_time = threading.Lock()
position = 0  # the last entry that was handled; store it together with what you make of the entry


def verify(headers, body: bytes) -> dict:
    """The entry, if it comes from who knows the secret; raises ValueError else."""
    name, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE_S:
        raise ValueError("the delivery is too old, or its time is wrong")
    signed = f"{name}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # While a secret is being replaced there is a signature by each.
    if not any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split()):
        raise ValueError("no signature matches")
    return json.loads(body)


def handle(entry: dict) -> None:
    global position
    if entry["kind"] == "test":
        print("test", flush=True)
    elif entry["kind"] == "tail_lost":
        # The server's database came back without its last entries: what was received from here on never happened.
        position = entry["seq"]
        print(f"lost from {position}", flush=True)
    elif entry["seq"] > position:
        position = entry["seq"]
        result = json.dumps(entry["result"], separators=(",", ":"), ensure_ascii=False)
        print(f"{position} {entry['event']} {entry['status']} {result}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # of each read, the TLS handshake's too: whoever connects and sends nothing holds a thread no longer

    def do_POST(self):
        try:
            length = int(self.headers.get("content-length", "0"))
            if not 0 <= length <= MAX_BYTES:
                raise ValueError("the body is too large, or its length is wrong")
            entry = verify(self.headers, self.rfile.read(length))
            with one_at_a_time:
                handle(entry)
            self.send_response(204)
        except ValueError as error:
            self.log_error("%s", error)
            self.send_response(400)
        self.end_headers()

    def log_request(self, *_):
        pass  # what was handled is printed


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8443"))), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.environ.get("TLS_CERT", "cert.pem"), os.environ.get("TLS_KEY", "key.pem"))
# The handshake is made by the thread of the connection, with its first read.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"listening on https://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
