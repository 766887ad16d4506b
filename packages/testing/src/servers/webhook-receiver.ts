import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Resources } from '@orrery/service-kit';
import { listen } from './listen.js';
import { temporaryFolder } from './temporary-folder.js';

/** What a receiver was sent. */
export interface ReceivedDelivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a receiver does with a delivery: answers with a status, or in its own way, or never (`hang`). */
export type Behaviour = (delivery: ReceivedDelivery, response: ServerResponse) => number | 'own' | 'hang';

export interface WebhookReceiver {
  /** `https://127.0.0.1:…` */
  readonly url: string;
  readonly port: number;
  readonly deliveries: readonly ReceivedDelivery[];
  /** Connections that were made. */
  readonly connections: () => number;
  behave(behaviour: Behaviour): void;
}

/** A certificate for loopback and `*.hook.test` that nobody else knows, and its key, as files. Needs the command `openssl`. */
export async function makeCertificate(resources: Resources) {
  const folder = await temporaryFolder(resources, 'tls');
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '7'],
    ...[
      '-subj',
      '/CN=receiver',
      '-addext',
      'subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:*.hook.test',
    ],
    ...['-keyout', key, '-out', certificate],
  ]);
  return { key, certificate };
}

/** A server on loopback that takes deliveries over TLS, and answers 200 until told otherwise. */
export async function startWebhookReceiver(
  resources: Resources,
  files: { readonly key: string; readonly certificate: string },
): Promise<WebhookReceiver> {
  const [key, cert] = await Promise.all([readFile(files.key), readFile(files.certificate)]);
  const deliveries: ReceivedDelivery[] = [];
  let behaviour: Behaviour = () => 200;
  let connections = 0;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const delivery = { path: request.url ?? '', headers: request.headers, body };
    deliveries.push(delivery);
    const answer = behaviour(delivery, response);
    if (typeof answer === 'number') response.writeHead(answer).end();
  };
  const server = createServer({ key, cert }, (request, response) => {
    // A sender that is gone.
    receive(request, response).catch(() => response.destroy());
  });
  server.on('connection', () => {
    connections += 1;
  });
  const { port } = resources.use('webhook receiver', await listen(server));
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    deliveries,
    connections: () => connections,
    behave: (next) => {
      behaviour = next;
    },
  };
}
