import type { Resources } from '@orrery/service-kit';
import { makeCertificate, startWebhookReceiver, type WebhookReceiver } from '@orrery/testing/servers';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, apiClient, created } from '../../api/api-client.js';
import { addressOf } from '../../load/operation.js';

/** What secrets are encrypted with. */
const WEBHOOK_KEYS = '5a'.repeat(32);

/** A receiver on loopback, and what the processes need to send to it. */
export async function startReceiver(resources: Resources) {
  const files = await makeCertificate(resources);
  const receiver = await startWebhookReceiver(resources, files);
  const env = {
    WEBHOOK_KEYS,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: files.certificate,
  };
  return { receiver, env, secrets: [WEBHOOK_KEYS] };
}

/** A webhook, and what its receiver was sent, in order. */
export interface ReceivedWebhook {
  readonly deployment: string;
  readonly path: string;
  readonly status: string | null;
  readonly deliveries: readonly { readonly id: string; readonly hash: string; readonly isGenuine: boolean }[];
}

export interface Webhooks {
  readonly secrets: readonly string[];
  /** Has what failed tried again at once, as an owner can. */
  tryAgain(): Promise<void>;
  received(): ReceivedWebhook[];
}

/** Two webhooks of each deployment: of all executions, and of those that succeeded. */
export async function makeWebhooks(
  receiver: WebhookReceiver,
  { url, key }: { url: string; key: string },
  deployments: readonly string[],
): Promise<Webhooks> {
  const api = apiClient(url, key);
  const wanted = deployments.flatMap((deployment) =>
    [null, 'succeeded'].map((status) => ({
      deployment,
      status,
      path: `/${addressOf(deployment)}/${status ?? 'all'}`,
    })),
  );
  const made = await Promise.all(
    wanted.map(async (one) => {
      const body = { url: receiver.url + one.path, status: one.status };
      const { id, secret } = created(await api.post(`${one.deployment}/webhooks`, body));
      return { ...one, id, secret: String(secret) };
    }),
  );
  return {
    secrets: made.map(({ secret }) => secret.slice('whsec_'.length)),
    tryAgain: async () => {
      for (const { deployment, id } of made) await enable(api, `${deployment}/webhooks/${id}`);
    },
    received: () =>
      made.map(({ deployment, path, status, secret }) => ({
        ...{ deployment: addressOf(deployment), path, status },
        deliveries: receiver.deliveries
          .filter((one) => one.path === path)
          .map(({ headers, body }) => ({
            id: String(headers['webhook-id']),
            hash: String(JSON.parse(body).hash),
            isGenuine: isGenuine(secret, headers as Record<string, string>, body),
          })),
      })),
  };
}

async function enable(api: ApiClient, path: string): Promise<void> {
  const { status, body } = await api.put(path, { isEnabled: true });
  if (status !== 200) throw new Error(`a webhook was not enabled: ${JSON.stringify(body)}`);
}

/** When it was sent is not looked at: clocks are moved, and it may be long ago. */
function isGenuine(secret: string, headers: Record<string, string>, body: string): boolean {
  const id = headers['webhook-id'] ?? '';
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  return (headers['webhook-signature'] ?? '').split(' ').includes(new Webhook(secret).sign(id, at, body));
}
