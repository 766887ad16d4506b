import type { components } from '../generated/api.js';
import { canonicalJson, sha256 } from './canonical-json.js';

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
