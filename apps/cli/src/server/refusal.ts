import { ERRORS, type FieldProblem, type HttpBinding } from '@orrery/contracts';
import type { OrreryError } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { toKebab } from '../terminal/options.js';
import type { Server } from './find-server.js';

/** What was asked, with its parameters and query, from `/api` on. */
export interface Asked {
  readonly method: HttpBinding['method'];
  readonly path: string;
}

/** Why a request was refused. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly error: string;
  readonly errors?: readonly FieldProblem[];
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly requestId?: string | undefined;
}

/** The server has refused a request. The message is its problem document for people: code, sentence, pointers, advice. */
export class Refusal extends StartupError {
  readonly problem: Problem;
  readonly #path: string;

  /** @param more what else there is to say to people */
  constructor(server: Server, asked: Asked, problem: Problem, ...more: readonly string[]) {
    super([textOf(asked, problem), ...adviceOn(server, problem), ...more].join('\n'));
    this.problem = problem;
    this.#path = asked.path.replace(/\?.*/s, '');
  }

  /** The problem document for programs, as docs/gateway.md has it. */
  toJSON(): object {
    const { status, code, error, errors = [], facts = {}, requestId } = this.problem;
    return {
      ...{ success: false, error, code, type: `urn:orrery:problem:${code}` },
      ...(Object.hasOwn(ERRORS, code) && { title: ERRORS[code as keyof typeof ERRORS].title }),
      ...{ status, detail: error, instance: this.#path, requestId },
      ...(errors.length > 0 && { errors }),
      ...(Object.keys(facts).length > 0 && { facts }),
    };
  }
}

/** What the SDK was told for a request, as the command says it; `more`: what else there is to say. */
export function failureOf(
  server: Server,
  asked: Asked,
  error: OrreryError,
  ...more: readonly string[]
): StartupError {
  const { status, code, message, pointers, facts, requestId } = error;
  const text = (sentence: string, ...lines: readonly string[]) =>
    new StartupError([sentence, ...lines, ...more].join('\n'), { cause: error });
  switch (code) {
    case 'network_error':
      return text(withReason(error));
    case 'redirected':
      return text(message);
    case 'http_error':
      return text(message, `Look at the address, ${server.url}, and at what stands before the server.`);
    default: {
      const problem = { status, code, error: message, errors: pointers, facts, requestId };
      const refusal = new Refusal(server, asked, problem, ...more);
      refusal.cause = error;
      return refusal;
    }
  }
}

/** What the network says of a request that got no answer; empty where it says nothing. */
export function reasonOf(error: Error): string {
  const { code, message } = ((error.cause as Error | undefined) ?? {}) as Partial<NodeJS.ErrnoException>;
  return code ?? message ?? '';
}

function withReason({ message, cause }: OrreryError): string {
  const reason = cause instanceof Error ? reasonOf(cause) : '';
  return reason === '' ? message : message.replace(/\.?$/, ` (${reason}).`);
}

/** The sentence first; what was asked, which is long, at the end. */
function textOf({ method, path }: Asked, { status, code, error, errors = [] }: Problem): string {
  // One problem is in the sentence already.
  const further = errors.filter(({ message }) => !error.includes(message));
  const lines = further.map(({ pointer, message }) => `\n  ${pointer || 'the body'}: ${message}`);
  const sentence = Object.hasOwn(ADVICE, code) ? withoutPaths(error) : error;
  return asTyped(`${sentence} (${status} ${code})${lines.join('')}\nRefused: ${method} ${path}`);
}

/** Without the sentences that name requests: a command says the same. */
const withoutPaths = (text: string): string =>
  text
    .split(/(?<=\.)/)
    .filter((sentence) => !/\bGET \/api\//.test(sentence))
    .join('');

/** Pointers to queries and headers as the options that fill them. */
const asTyped = (text: string): string =>
  text.replaceAll(/#(?:query|header)\/([\w-]+)/g, (_, name: string) => `--${toKebab(name)}`);

/** Commands for what the server says of its API. */
export const ADVICE: Readonly<Record<string, string>> = {
  unknown_ai_model: '`orrery models list` shows the models.',
  unknown_chain: '`orrery chains list` shows the chains.',
  world_not_found: '`orrery worlds list` shows the worlds that you may see.',
  deployment_not_found: '`orrery deployments list WORLD` shows the deployments of a world.',
  entity_schema_not_found: '`orrery schemas list WORLD` shows the schemas of a world.',
  attribute_not_found: '`orrery attributes list WORLD SCHEMA` shows the attributes of a schema.',
  event_not_found: '`orrery events list WORLD` shows the events of a world.',
  event_version_not_found: '`orrery versions list WORLD EVENT` shows the versions of an event.',
  event_binding_not_found: '`orrery bindings list DEPLOYMENT` shows what a deployment has bound.',
  entity_instance_not_found: '`orrery instances list DEPLOYMENT` shows the instances of a deployment.',
  history_entry_not_found: '`orrery history list DEPLOYMENT` shows the entries of a deployment.',
  schedule_not_found: '`orrery schedules list DEPLOYMENT` shows the schedules of a deployment.',
  push_not_found: '`orrery pushes list DEPLOYMENT` shows the pushes of a deployment.',
  webhook_not_found: '`orrery webhooks list DEPLOYMENT` shows the webhooks of a deployment.',
  key_not_found: '`orrery keys list` shows the keys of your account.',
  revision_mismatch:
    'It was changed by something else since it was read, so nothing was written: look at it and run the command again.',
};

/** What the server cannot know: where the key and the address came from. */
export function adviceOn(
  { url, keyFrom }: Server,
  { status, code }: Pick<Problem, 'status' | 'code'>,
): string[] {
  const withoutApi = url.replace(/\/api$/, '');
  if (status === 401 && keyFrom !== undefined)
    return [`The key came from ${keyFrom}, the server is ${url}. --key or ORRERY_KEY gives another key.`];
  if (code === 'route_not_found' && withoutApi !== url)
    return [`Give the address without /api, which the command adds itself: ${withoutApi}`];
  return Object.hasOwn(ADVICE, code) ? [ADVICE[code] ?? ''] : [];
}
