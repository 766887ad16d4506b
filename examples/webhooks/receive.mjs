// Receives the executions of a deployment, each at least once and in order (docs/webhooks.md), and prints each once.
//   WEBHOOK_SECRET=whsec_… TLS_KEY=key.pem TLS_CERT=cert.pem node examples/webhooks/receive.mjs
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', TLS_KEY = 'key.pem', TLS_CERT = 'cert.pem', PORT = '8443' } = process.env;
if (WEBHOOK_SECRET === '') {
  process.stderr.write('WEBHOOK_SECRET is missing: creating the webhook answered with it, as `secret`.\n');
  process.exit(1);
}
const webhook = new Webhook(WEBHOOK_SECRET);
const MAX_BYTES = 2 * 1024 * 1024;

/** The last entry that was handled. A program of yours stores it together with what it makes of the entry. */
let position = 0;

const server = createServer(
  { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) },
  (request, response) => {
    handle(request).then(
      () => response.writeHead(204).end(),
      (error) => {
        process.stderr.write(`${error.message}\n`);
        response.writeHead(400).end();
      },
    );
  },
);

const say = (line) => process.stdout.write(`${line}\n`);

async function handle(request) {
  // Of the bytes as they came: JSON that was parsed and written again has another signature.
  const entry = webhook.verify(await bodyOf(request), request.headers);
  if (entry.kind === 'test') return say('test');
  // The server's database came back without its last entries: what was received from here on never happened.
  if (entry.kind === 'tail_lost') {
    position = entry.seq;
    return say(`lost from ${entry.seq}`);
  }
  if (entry.seq <= position) return; // received before
  position = entry.seq;
  say(`${entry.seq} ${entry.event} ${entry.status} ${JSON.stringify(entry.result)}`);
}

async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

server.listen(Number(PORT), '127.0.0.1', () =>
  say(`listening on https://127.0.0.1:${server.address().port}`),
);
