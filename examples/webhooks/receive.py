"""Receives the executions of a deployment, each at least once and in order (docs/webhooks.md), and prints each once.

    WEBHOOK_SECRET=whsec_… TLS_KEY=key.pem TLS_CERT=cert.pem python3 examples/webhooks/receive.py
"""

import base64
import hashlib
import hmac
import json
import os
import ssl
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
MAX_BYTES = 2 * 1024 * 1024
TOLERANCE_S = 300

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
    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        try:
            if length > MAX_BYTES:
                raise ValueError("the body is too large")
            handle(verify(self.headers, self.rfile.read(length)))
            self.send_response(204)
        except ValueError as error:
            self.log_error("%s", error)
            self.send_response(400)
        self.end_headers()

    def log_request(self, *_):
        pass  # what was handled is printed


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8443"))), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.environ.get("TLS_CERT", "cert.pem"), os.environ.get("TLS_KEY", "key.pem"))
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"listening on https://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
