import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
# Anyone can sign with an empty key.
if not SECRET:
    raise ValueError("WEBHOOK_SECRET must be the secret of the endpoint")
MAX_AGE_SECONDS = 5 * 60


def verify_webhook(headers, body):
    """Returns the event of a webhook. Raises if its signature is wrong, or if it is old."""
    timestamp = headers["webhook-timestamp"]
    signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    digest = hmac.new(SECRET, signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    # After the secret has been rotated, there are two signatures.
    given = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected, one) for one in given):
        raise ValueError("not a valid webhook")
    if abs(time.time() - int(timestamp)) > MAX_AGE_SECONDS:
        raise ValueError("the webhook is old")
    return json.loads(body)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            length = int(self.headers["content-length"])
            event = verify_webhook(self.headers, self.rfile.read(length))
            print(event["type"], event["data"], flush=True)
            self.send_response(204)
        except (AttributeError, KeyError, TypeError, ValueError):
            self.send_response(400)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver).serve_forever()
