import type { JsonObject, VersionDefinition, WorldTexts } from '@orrery/contracts';
import type { CompiledDefinition } from '@orrery/deciding';
import { compileContract, toJsonSchema } from '@orrery/expressions';
import { exampleOf } from '../../core/payments/example-input.js';
import type { Resource } from '../../core/payments/payment.js';
import { type DeploymentState, lockedDefinitionOf } from '../../store/state/deployment-state.js';
import { type Confirmed, type ExecutionRequest, mayPayerCall } from './resolve-event.js';
import type { RunDependencies } from './run-dependencies.js';

/** How an event presents itself to who pays for it, and to catalogues of what can be paid for. */
export type Listing = Pick<Resource, 'serviceName' | 'tags' | 'extensions'>;

/** At the event's own address: the name and tags of the world, and the extensions of x402. Nothing elsewhere. */
export async function listingOf(
  { catalog }: Pick<RunDependencies, 'catalog'>,
  { row }: DeploymentState,
  request: ExecutionRequest,
  confirmed: Confirmed | undefined,
): Promise<Listing> {
  const definition = confirmed?.definition;
  if (request.offer?.atEvent !== true || definition === undefined) return {};
  const world = lockedDefinitionOf(row)?.world ?? (await catalog.world(row.world_id));
  return { ...(await namesOf(world)), extensions: await extensionsOf(definition, request) };
}

/** What x402 takes of a world's name and tags: 32 printable characters of ASCII each, five tags. */
async function namesOf(world: Pick<WorldTexts, 'name' | 'domainTags'> | undefined): Promise<Listing> {
  const { sanitizeResourceServiceMetadata } = await import('@x402/extensions/bazaar');
  if (world === undefined) return {};
  const { serviceName, tags } = sanitizeResourceServiceMetadata({
    url: '',
    serviceName: world.name.slice(0, 32).trim(),
    tags: world.domainTags,
  });
  return { ...(serviceName && { serviceName }), ...(tags && { tags }) };
}

/** By the definitions that the catalog's client remembers. */
const declared = new WeakMap<VersionDefinition, NonNullable<Listing['extensions']>>();

async function extensionsOf(definition: CompiledDefinition, request: ExecutionRequest) {
  const known = declared.get(definition.definition);
  if (known !== undefined) return known;
  const { declarePaymentIdentifierExtension } = await import('@x402/extensions/payment-identifier');
  const extensions = {
    ...(await discoveryOf(definition, request)),
    'payment-identifier': declarePaymentIdentifierExtension() as unknown as JsonObject,
  };
  declared.set(definition.definition, extensions);
  return extensions;
}

/** A payer sends the declaration back in its header, which has 8 KiB for all in base64; in characters of JSON. */
const MOST_DECLARED = 2600;
const ANY_INPUT = { type: 'object' };

/** The extension `bazaar`: the body of the request, made of the input contract as far as that is not too long. */
async function discoveryOf(
  definition: CompiledDefinition,
  request: ExecutionRequest,
): Promise<Record<string, JsonObject>> {
  const { bazaarResourceServerExtension, declareDiscoveryExtension } = await import(
    '@x402/extensions/bazaar'
  );
  const isSigned = !mayPayerCall(definition, request);
  const declare = ({ schema, example }: DescribedInput) => {
    const input = { input: example, ...(isSigned && SIGNED_EXAMPLE) };
    const properties = { input: schema, ...(isSigned && SIGNED_MEMBERS) };
    const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
    const { bazaar } = declareDiscoveryExtension({ bodyType: 'json', input, inputSchema });
    const asked = { method: 'POST', adapter: {} };
    return bazaarResourceServerExtension.enrichDeclaration?.(bazaar, asked as never) as JsonObject;
  };
  const full = declare(inputOf(definition));
  const isShort = JSON.stringify(full).length <= MOST_DECLARED;
  return { bazaar: isShort ? full : declare({ schema: ANY_INPUT, example: {} }) };
}

const SIGNED_MEMBERS = {
  wallet: { type: 'string' },
  message: { type: 'string' },
  signature: { type: 'string' },
};
const SIGNED_EXAMPLE = { wallet: '0x…', message: 'orrery:0x…:event:1763976600000', signature: '0x…' };

interface DescribedInput {
  readonly schema: JsonObject;
  readonly example: JsonObject;
}

/** The contract with an example that fits it; any object where none is found, or where it refers to its own root. */
function inputOf({ definition: { inputSchema }, problemsOfInput }: CompiledDefinition): DescribedInput {
  const any = { schema: ANY_INPUT, example: {} };
  const compiled = inputSchema === null ? undefined : compileContract(inputSchema);
  if (compiled?.ok !== true) return any;
  const { $schema: _, ...schema } = toJsonSchema(compiled.contract);
  const example = exampleOf(schema) as JsonObject;
  const refersToRoot = JSON.stringify(schema).includes('"$ref"');
  return refersToRoot || problemsOfInput(example).length > 0 ? any : { schema, example };
}
