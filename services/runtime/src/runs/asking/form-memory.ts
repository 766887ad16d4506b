import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { OutputForm } from '../../core/models/decider.js';
import { BEST, type RequestForm } from '../../core/prompting/request-form.js';

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
