import type { Message, NamedRpc } from '@orrery/contracts';

/** Where one process of the service answers the RPC. @throws TypeError for names that no subject can hold. */
export function instanceSubject(rpc: NamedRpc, instance: string): string {
  if (!/^[\w-]{1,64}$/.test(instance)) throw new TypeError(`not a name for an instance: ${instance}`);
  return `${rpc.subject}@${instance}`;
}

/** Broadcasts have subjects of their own: everything below `orrery.facts` is stored. */
export const broadcastSubject = (message: Message): string =>
  `orrery.broadcasts.${message.service}.${message.name}`;

/** Where a service hears which of the calls it works on were given up. */
export const cancelSubject = (service: string): string => `orrery.cancel.${service}`;
