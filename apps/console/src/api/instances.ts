import { DEPLOYMENT } from './deployments.js';

export const INSTANCES = `${DEPLOYMENT}/entity-instances` as const;

interface InstanceName {
  readonly entitySchema: string;
  readonly instanceId: string;
}

/** `schema:instanceId`. */
export const instanceKey = ({ entitySchema, instanceId }: InstanceName): string =>
  `${entitySchema}:${instanceId}`;

/** The schema and the id of an instance's key, which are parted at the first colon: schema names hold none. */
export function splitKey(key: string): InstanceName {
  const at = key.indexOf(':');
  return { entitySchema: key.slice(0, at), instanceId: key.slice(at + 1) };
}
