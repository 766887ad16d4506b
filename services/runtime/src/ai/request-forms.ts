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

/**
 * Remembers the forms by server and model, for an hour. Where a better form has worked for the same model, it is the
 * event's own schema that the server does not take: then it is remembered for that definition alone.
 */
export function createFormMemory(clock: Pick<Clock, 'now'>): FormMemory {
  const kept = new LRUCache<string, { form: RequestForm; until: number }>({ max: MAX_KEPT });
  const proven = new LRUCache<string, number>({ max: MAX_KEPT });
  const find = (name: string) => {
    const found = kept.get(name);
    return found !== undefined && found.until > clock.now() ? found.form : undefined;
  };
  const isProven = (name: string) => (proven.get(name) ?? 0) > clock.now();
  return {
    formFor: (key) => find(ofDefinition(key)) ?? find(ofModel(key)) ?? BEST,
    worked: (key, { output }) => void proven.set(`${ofModel(key)} ${output}`, clock.now() + KEPT_MS),
    lowered: (key, form) => {
      const better = (['strict', 'json'] as const).filter((output) => isAbove(output, form.output));
      const isOwnFault = better.some((output) => isProven(`${ofModel(key)} ${output}`));
      kept.set(isOwnFault ? ofDefinition(key) : ofModel(key), { form, until: clock.now() + KEPT_MS });
    },
  };
}

const ORDER: readonly OutputForm[] = ['text', 'json', 'strict'];
const isAbove = (one: OutputForm, other: OutputForm): boolean => ORDER.indexOf(one) > ORDER.indexOf(other);

const ofModel = ({ baseUrl, model }: FormKey): string => JSON.stringify([baseUrl, model]);
const ofDefinition = ({ baseUrl, model, definition }: FormKey): string =>
  JSON.stringify([baseUrl, model, definition]);
