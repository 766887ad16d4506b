import type { components } from '../generated/api.js';

/**
 * The one text of a JSON value by RFC 8785. It is the SDK's own on purpose: a verification that used the service's code
 * would repeat the service's mistakes.
 */
export function canonicalJson(json: unknown): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(canonicalJson).join(',')}]`;
  const members = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${canonicalJson(value)}`).join(',')}}`;
}

/** SHA-256 of the text's UTF-8 bytes, in 64 lowercase hex digits. Pages need HTTPS or localhost for it. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

type Entry = components['schemas']['LiveExecution'];
type Source = components['schemas']['DeploymentSource'] | null;

/** The members that an entry's hash covers (docs/history.md, "The hash chain"). */
const COVERED = [
  'v',
  'deployment',
  'id',
  'seq',
  'kind',
  'event',
  'eventVersion',
  'versionHash',
  'trigger',
  'caller',
  'status',
  'input',
  'changes',
  'result',
  'error',
  'llmHash',
  'attestation',
  'paymentKey',
  'executedAt',
  'prevHash',
] as const satisfies readonly (keyof Entry)[];

/** The `prevHash` of a deployment's first entry. */
export const firstLink = (deployment: string, source: Source): Promise<string> =>
  sha256(canonicalJson({ deployment, source }));

/** The hash that an entry should have. */
export const hashOf = (entry: Entry): Promise<string> =>
  sha256(canonicalJson(Object.fromEntries(COVERED.map((member) => [member, entry[member]]))));
