import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { OutputForm } from '../models/evidence.js';

/** How a request is put to a model's server: what some servers refuse. */
export interface RequestForm {
  readonly output: OutputForm;
  /** The name of the limit of tokens: newer models of some servers know only the second one. */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
  readonly withTemperature: boolean;
  readonly withSeed: boolean;
  /** Without it the system's text stands before the user's: templates of some models know no system role. */
  readonly withSystemRole: boolean;
}

const BEST: RequestForm = {
  output: 'strict',
  tokenLimit: 'max_tokens',
  withTemperature: true,
  withSeed: true,
  withSystemRole: true,
};

/** The ladder: what is asked for where a form was refused or ignored. */
const BELOW: Readonly<Record<OutputForm, OutputForm | undefined>> = {
  strict: 'json',
  json: 'text',
  text: undefined,
};

/** What a server may refuse of a request, where it says so and there is another way. */
export type RefusedPart = 'max_tokens' | 'temperature' | 'seed' | 'system';

/**
 * The form to try after a server refused one, by the part that it named, if any; `undefined` when no other form is left.
 * Where none was named, all forms of output are tried with a system role, and then without one.
 */
export function formAfterRefusal(form: RequestForm, part: RefusedPart | undefined): RequestForm | undefined {
  if (part === 'max_tokens' && form.tokenLimit === 'max_tokens')
    return { ...form, tokenLimit: 'max_completion_tokens' };
  if (part === 'temperature' && form.withTemperature) return { ...form, withTemperature: false };
  if (part === 'seed' && form.withSeed) return { ...form, withSeed: false };
  if (part === 'system' && form.withSystemRole) return { ...form, withSystemRole: false };
  return (
    formBelow(form) ??
    (form.withSystemRole ? { ...form, output: 'strict', withSystemRole: false } : undefined)
  );
}

/** The form with the next lower output, after one that was ignored. */
export function formBelow(form: RequestForm): RequestForm | undefined {
  const output = BELOW[form.output];
  return output && { ...form, output };
}

/** Who is asked, and for what. */
export interface FormKey {
  readonly baseUrl: string;
  readonly model: string;
  /** The hash of the event version's definition. */
  readonly definition: string;
}

export interface FormMemory {
  /** The best form that is not known to be refused or ignored. */
  formFor(key: FormKey): RequestForm;
  /** The server took this form, and the answer had it. */
  worked(key: FormKey, form: RequestForm): void;
  /** The form that took the place of one that was refused or ignored. */
  lowered(key: FormKey, form: RequestForm): void;
}

/** How long a lower form is kept before the best one is tried again, in milliseconds. */
const KEPT_MS = 60 * 60 * 1000;
const MAX_KEPT = 10_000;

type Parameters = Partial<Omit<RequestForm, 'output'>>;

/**
 * Remembers for an hour what did not work. Parameters are the server's affair: they are left out for the whole model. A
 * form of output may be the event's own fault, be it its schema or its prompt, so it is given up for that definition
 * alone; for the whole model only when a second definition gives it up too and it has worked for none.
 */
export function createFormMemory(clock: Pick<Clock, 'monotonic'>): FormMemory {
  const parameters = memoryOf<Parameters>(clock);
  const outputs = memoryOf<OutputForm>(clock);
  const proven = memoryOf<true>(clock);
  const givenUp = memoryOf<string>(clock);
  const outputOf = (key: FormKey) => outputs.get(ofDefinition(key)) ?? outputs.get(ofModel(key));
  const isGivenUp = (key: FormKey, output: OutputForm): boolean => {
    const name = `${ofModel(key)} ${output}`;
    if (proven.get(name)) return false;
    const first = givenUp.get(name) ?? key.definition;
    givenUp.set(name, first);
    return first !== key.definition;
  };
  return {
    formFor: (key) => ({
      ...BEST,
      ...parameters.get(ofModel(key)),
      output: outputOf(key) ?? BEST.output,
    }),
    worked: (key, { output }) => proven.set(`${ofModel(key)} ${output}`, true),
    lowered: (key, { output, ...rest }) => {
      parameters.set(ofModel(key), { ...parameters.get(ofModel(key)), ...unusual(rest) });
      if (output === BEST.output) return;
      outputs.set(ofDefinition(key), output);
      const better = LADDER.slice(0, LADDER.indexOf(output));
      const kept = better.map((one) => isGivenUp(key, one)).indexOf(false);
      const ofAll = kept < 0 ? output : better[kept];
      if (ofAll !== undefined && ofAll !== BEST.output) outputs.set(ofModel(key), ofAll);
    },
  };
}

const LADDER: readonly OutputForm[] = ['strict', 'json', 'text'];

/** The parameters that are not as in the best form. */
const unusual = (parameters: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(parameters).filter(([name, value]) => value !== BEST[name as keyof RequestForm]),
  );

/** Keeps values for an hour. */
function memoryOf<Value>(clock: Pick<Clock, 'monotonic'>) {
  const kept = new LRUCache<string, { value: Value; until: number }>({ max: MAX_KEPT });
  return {
    get: (name: string): Value | undefined => {
      const found = kept.get(name);
      return found !== undefined && found.until > clock.monotonic() ? found.value : undefined;
    },
    set: (name: string, value: Value) => void kept.set(name, { value, until: clock.monotonic() + KEPT_MS }),
  };
}

const ofModel = ({ baseUrl, model }: FormKey): string => JSON.stringify([baseUrl, model]);
const ofDefinition = ({ baseUrl, model, definition }: FormKey): string =>
  JSON.stringify([baseUrl, model, definition]);
