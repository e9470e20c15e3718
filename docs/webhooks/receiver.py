# Receives Oplink's webhooks, without a library: SECRET=whsec_… python3 receiver.py
import base64, hashlib, hmac, http.server, json, os, time

KEY = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))
PORT = int(os.environ.get("PORT", 8080))


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        id, sent = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "")
        own = "v1," + base64.b64encode(hmac.digest(KEY, f"{id}.{sent}.".encode() + body, hashlib.sha256)).decode()
        given = self.headers.get("webhook-signature", "").split(" ")
        is_signed = any(hmac.compare_digest(own.encode(), one.encode()) for one in given)
        ok = is_signed and abs(time.time() - int(sent)) < 300
        if ok:
            # The same delivery may come twice: keep the id, and answer before long work.
            print(id, json.loads(body), flush=True)
        self.send_response(204 if ok else 401)
        self.end_headers()


server = http.server.ThreadingHTTPServer(("", PORT), Receiver)
print(f"listening on {PORT}", flush=True)
server.serve_forever()
