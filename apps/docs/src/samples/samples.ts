import { commandWords } from '@orrery/cli/command-words';
import { httpOperations } from '@orrery/contracts';
import type { PlacedOperation } from '../openapi/document.js';
import { curlSample } from './curl.js';
import { sdkSample } from './sdk.js';
import { commandLine } from './shell.js';
import { shownCall } from './shown-call.js';

export interface Sample {
  readonly kind: 'curl' | 'sdk' | 'cli';
  readonly title: string;
  readonly language: string;
  readonly code: string;
}

/** How an operation is called: each made of the contract and the document's example. */
export function samplesOf(operation: PlacedOperation): readonly Sample[] {
  const command = cliSample(operation);
  return [
    { kind: 'curl', title: 'curl', language: 'bash', code: curlSample(operation) },
    { kind: 'sdk', title: 'SDK', language: 'js', code: sdkSample(operation) },
    {
      kind: 'cli',
      title: 'CLI',
      language: 'bash',
      code: command ?? '# The command has no equivalent: use curl or the SDK.',
    },
  ];
}

/** The command; undefined where there is none. */
export function cliSample(operation: PlacedOperation): string | undefined {
  const rpc = httpOperations.find(({ name }) => operationIdOf(name) === operation.operationId);
  if (rpc === undefined) return undefined;
  const { params, query, headers, body } = shownCall(operation);
  const named = params.map(({ name, value, variable }) => [
    name,
    variable === undefined ? value : `$${variable}`,
  ]);
  const targets = { world: '$WORLD', deployment: '$WORLD/$DEPLOYMENT' };
  const words = commandWords(rpc, { params: Object.fromEntries(named), query, headers, body, targets });
  return words && commandLine(['npx', 'orrery', ...words]);
}

/** `worlds.create` → `worldsCreate`, as the document names it. */
const operationIdOf = (name: string): string =>
  name.replaceAll(/\.([a-z])/g, (_, letter: string) => letter.toUpperCase());
