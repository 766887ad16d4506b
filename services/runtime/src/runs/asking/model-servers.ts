import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { OutputForm } from '../../core/models/model.js';
import { BEST, type RequestForm } from '../../core/prompting/request-form.js';

/** The way of one call through a circuit breaker; exactly one of these is called at its end. */
export interface Passage {
  /** The server answered, be it with a refusal. */
  answered(): void;
  /** The server could not be reached, failed or took too long. */
  failed(): void;
  /** The call was given up, which says nothing of the server. */
  cancelled(): void;
}

export interface CircuitBreaker {
  /** Lets a call pass, or answers in how many milliseconds one may pass again. */
  enter(): Passage | { readonly openForMs: number };
}

/** Failures in a row that open the circuit. */
export const FAILURES_TO_OPEN = 5;
/** Failures within so many milliseconds count as one: one fault of a server ends many calls at once. */
export const FAILURE_INTERVAL_MS = 1000;
/** How long an open circuit lets no call pass, in milliseconds. */
export const OPEN_MS = 15_000;

/**
 * Keeps calls from a server that fails:
 *
 *   closed     all calls pass; 5 failures in a row, each at least 1 s after the one before → open
 *   open       no call passes for 15 s, then → half-open
 *   half-open  one call passes, the others wait as if it were open: it is answered → closed; it fails → open
 *
 * A failure that comes while it is open, of a call that passed before, says nothing new.
 */
export function createCircuitBreaker(clock: Pick<Clock, 'monotonic'>): CircuitBreaker {
  let failures = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let openUntil = 0;
  let isProbing = false;
  const isOpen = () => failures >= FAILURES_TO_OPEN;
  const open = () => {
    openUntil = clock.monotonic() + OPEN_MS;
  };
  const close = () => {
    failures = 0;
    countedAt = Number.NEGATIVE_INFINITY;
    isProbing = false;
  };
  const count = () => {
    const now = clock.monotonic();
    if (isOpen() || now - countedAt < FAILURE_INTERVAL_MS) return;
    countedAt = now;
    failures += 1;
    if (isOpen()) open();
  };
  const endProbe = () => {
    isProbing = false;
  };
  const failProbe = () => {
    endProbe();
    open();
  };
  return {
    enter: () => {
      if (!isOpen()) return { answered: close, failed: count, cancelled: () => undefined };
      const openForMs = openUntil - clock.monotonic();
      if (openForMs > 0 || isProbing) return { openForMs: Math.max(openForMs, 1) };
      isProbing = true;
      return { answered: close, failed: failProbe, cancelled: endProbe };
    },
  };
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
