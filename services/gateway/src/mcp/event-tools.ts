import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, type PublicEvent } from '@orrery/contracts';

/** An event as a tool. */
export interface EventTool {
  readonly event: PublicEvent;
  readonly name: string;
  /** JSON Schema of its arguments: the input and, beside it, the members of the signature. */
  readonly inputSchema: JsonObject & { type: 'object' };
  /** What the members of the signature are called among the arguments; undefined where a payment alone may call. */
  readonly signed: SignedNames | undefined;
}

export type SignedNames = Readonly<Record<(typeof SIGNED)[number], string>>;

/** The events that are tools, by the tools' names. A contract that is too large for a list is too large for a tool. */
export const eventsByTool = (events: readonly PublicEvent[]): Map<string, PublicEvent> =>
  new Map(
    events.flatMap((event) =>
      event.inputSchema === undefined ? [] : [[toolName(event.event), event] as const],
    ),
  );

export function toolOf(address: string, event: PublicEvent): EventTool {
  const contract = event.inputSchema ?? {};
  const signed = event.payerMayCall ? undefined : signedNames(contract);
  const inputSchema = argumentsOf(contract, signed, `orrery:${address}:${event.event}:`);
  return { event, name: toolName(event.event), inputSchema, signed };
}

const PLAIN = /^[A-Za-z0-9_]{1,64}$/;
const SLUG_CHARACTERS = 48;

/** Whether tools may be called so. */
export const isPlain = (name: string): boolean => PLAIN.test(name);

/** Whether a tool that is called so may have an event of another name. */
export const mayBeSlug = (name: string): boolean => /_[0-9a-f]{8}$/.test(name);

/** The event's name where tools may be called so; else what is left of it in ASCII, and 8 hex digits of its hash. */
export function toolName(event: string): string {
  if (isPlain(event)) return event;
  const slug = event
    .slice(0, SLUG_CHARACTERS)
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const hash = createHash('sha256').update(event).digest('hex').slice(0, 8);
  return slug === '' ? `event_${hash}` : `${slug}_${hash}`;
}

const SIGNED = ['wallet', 'message', 'signature'] as const;

/** Prefixed as often as it takes to differ from every member of the input. */
function signedNames(contract: JsonObject): SignedNames {
  const taken = isJsonObject(contract['properties']) ? contract['properties'] : {};
  let prefix = '';
  while (SIGNED.some((name) => Object.hasOwn(taken, prefix + name))) prefix += 'signed_';
  return { wallet: `${prefix}wallet`, message: `${prefix}message`, signature: `${prefix}signature` };
}

function argumentsOf(
  contract: JsonObject,
  names: SignedNames | undefined,
  text: string,
): EventTool['inputSchema'] {
  if (names === undefined) return { ...contract, type: 'object' };
  const { properties, required } = contract;
  const described = {
    [names.wallet]: 'The wallet that signs: base58 of an ed25519 key, or an EVM address.',
    [names.message]: `The text that the wallet signs: "${text}" and the current time in milliseconds since 1970. It is used once.`,
    [names.signature]: "The wallet's signature over the message: base58, or 0x and hex for an EVM address.",
  };
  const members = Object.entries(described).map(([name, description]) => [
    name,
    { type: 'string', description },
  ]);
  return {
    ...contract,
    type: 'object',
    properties: { ...(isJsonObject(properties) && properties), ...Object.fromEntries(members) },
    required: [...(Array.isArray(required) ? required : []), ...Object.values(names)],
  };
}

/** The arguments of a tool as the signed members and the input. */
export function splitArguments(
  given: JsonObject,
  names: SignedNames | undefined,
): { signed: Partial<Record<(typeof SIGNED)[number], JsonValue>>; input: JsonObject } {
  if (names === undefined) return { signed: {}, input: given };
  const { [names.wallet]: wallet, [names.message]: message, [names.signature]: signature, ...input } = given;
  return { signed: { wallet, message, signature } as never, input };
}
