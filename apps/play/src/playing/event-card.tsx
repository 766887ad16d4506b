import { OrreryError, type PublicAnswer } from '@orrery/sdk';
import { useEffect, useId, useState } from 'preact/hooks';
import { EntryText } from '../journal/journal.js';
import { Name, Notice, priceText } from '../ui/parts.js';
import { wordsOf } from '../wallets/wallets.js';
import type { OpenWorld } from '../world/follow-world.js';
import { orrery } from '../world/read-world.js';
import type { Entry, PublicEvent } from '../world/records.js';
import { type Attempt, isUnknown } from './attempt.js';
import { EventField } from './event-field.js';
import { type Field, fieldAt, fieldsOf, inputOf } from './fields.js';
import { suggestionsFor } from './suggestions.js';

type Outcome =
  | { readonly kind: 'none' | 'playing' | 'paying' }
  | { readonly kind: 'played'; readonly answer: PublicAnswer }
  | { readonly kind: 'failed'; readonly text: string; readonly isUnknown: boolean };

interface CardProps {
  readonly event: PublicEvent;
  readonly world: OpenWorld;
  readonly isOpen: boolean;
  /** Makes one play of the event with the player's wallet, and asks for one where there is none. @throws Error in words */
  readonly begin: (
    event: PublicEvent,
    input: Record<string, unknown>,
    onPaying: () => void,
  ) => Promise<Attempt>;
  readonly onMoment: (seq: number) => void;
}

/** An event as a form, with its price and what became of it. */
export function EventCard({ event: told, world, isOpen, begin, onMoment }: CardProps) {
  const [isShown, setShown] = useState(isOpen);
  const event = useContract(told, world.deployment.address, isShown);
  const fields = event.inputSchema === undefined ? undefined : (fieldsOf(event.inputSchema) ?? FREE);
  return (
    <details class="event" open={isOpen} onToggle={(toggled) => setShown(toggled.currentTarget.open)}>
      <summary>
        <h3>
          <Name>{event.event}</Name>
        </h3>
        <span class={event.priceUsd > 0 ? 'price paid' : 'price'}>
          {event.priceUsd > 0 ? priceText(event.priceUsd) : 'free'}
        </span>
      </summary>
      {event.description !== null && (
        <p dir="auto" class="description">
          {event.description}
        </p>
      )}
      {fields === undefined && <p class="muted">Reading what it takes…</p>}
      {fields !== undefined && (
        <EventForm event={event} fields={fields} world={world} begin={begin} onMoment={onMoment} />
      )}
    </details>
  );
}

const JSON_FIELD = 'The input, as JSON';
/** An input that no form shows. */
const FREE: Field[] = [
  {
    name: JSON_FIELD,
    kind: 'json',
    isRequired: false,
    label: 'Input',
    hint: 'an object, as JSON',
    options: [],
    initial: '{}',
  },
];

/** Contracts that are too large for the list are read when their event is opened. */
function useContract(event: PublicEvent, address: string, isShown: boolean): PublicEvent {
  const [whole, setWhole] = useState<PublicEvent>();
  const isMissing = isShown && event.inputSchema === undefined;
  useEffect(() => {
    if (!isMissing) return;
    const query = { event: event.event };
    orrery.get('/app/deployments/{address}', { path: { address }, query }).then(
      ({ events }) => setWhole(events[0]),
      () => undefined,
    );
  }, [isMissing, address, event.event]);
  return event.inputSchema === undefined && whole !== undefined ? whole : event;
}

type FormProps = Pick<CardProps, 'event' | 'world' | 'begin' | 'onMoment'> & { readonly fields: Field[] };

function EventForm({ event, fields, world, begin, onMoment }: FormProps) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' });
  const [attempt, setAttempt] = useState<Attempt>();
  const id = useId();

  const send = async (one: Attempt) => {
    setOutcome({ kind: 'playing' });
    try {
      setOutcome({ kind: 'played', answer: await one.send() });
      setAttempt(undefined);
    } catch (error) {
      setWrong(error instanceof OrreryError ? mistakesIn(error) : {});
      setAttempt(isUnknown(error) ? one : undefined);
      setOutcome({ kind: 'failed', text: wordsOf(error), isUnknown: isUnknown(error) });
    }
  };
  const submit = async () => {
    const entered = inputOf(fields, typed);
    if ('wrong' in entered) return setWrong(entered.wrong);
    setWrong({});
    setOutcome({ kind: 'playing' });
    try {
      const input = fields === FREE ? entered.input[JSON_FIELD] : entered.input;
      await send(
        await begin(event, (input ?? {}) as Record<string, unknown>, () => setOutcome({ kind: 'paying' })),
      );
    } catch (error) {
      setOutcome({ kind: 'failed', text: wordsOf(error), isUnknown: false });
    }
  };
  const isBusy = outcome.kind === 'playing' || outcome.kind === 'paying';
  const { isPaused } = world.deployment;
  return (
    <form
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (!isBusy && !isPaused) void submit();
      }}
    >
      {fields.map((field, at) => (
        <EventField
          key={field.name}
          id={`${id}-${at}`}
          field={field}
          text={typed[field.name] ?? field.initial}
          mistake={wrong[field.name]}
          suggestions={field.kind === 'text' ? suggestionsFor(field.name, world.loaded) : []}
          onType={(text) => setTyped({ ...typed, [field.name]: text })}
        />
      ))}
      <button type="submit" class="play" aria-disabled={isBusy || isPaused}>
        {isBusy ? 'Playing…' : event.priceUsd > 0 ? `Play for ${priceText(event.priceUsd)}` : 'Play'}
      </button>
      <OutcomeView outcome={outcome} onMoment={onMoment} onAgain={attempt && (() => void send(attempt))} />
    </form>
  );
}

const mistakesIn = ({ pointers }: OrreryError): Record<string, string> =>
  Object.fromEntries(
    pointers.flatMap(({ pointer, message }) => {
      const field = fieldAt(pointer);
      return field === undefined ? [] : [[field, message]];
    }),
  );

interface OutcomeProps {
  readonly outcome: Outcome;
  readonly onMoment: (seq: number) => void;
  readonly onAgain: (() => void) | undefined;
}

function OutcomeView({ outcome, onMoment, onAgain }: OutcomeProps) {
  switch (outcome.kind) {
    case 'none':
    case 'playing':
      return null;
    case 'paying':
      return <Notice>It is not known yet whether the payment was taken. This may take some minutes.</Notice>;
    case 'failed':
      return (
        <>
          <Notice tone="bad">
            {outcome.text}
            {outcome.isUnknown && ' Nobody knows whether it took effect: ask again, it takes effect once.'}
          </Notice>
          {onAgain !== undefined && (
            <button type="button" onClick={onAgain}>
              Ask again
            </button>
          )}
        </>
      );
    case 'played':
      return <Played answer={outcome.answer} onMoment={onMoment} />;
  }
}

function Played({ answer, onMoment }: { answer: PublicAnswer; onMoment: (seq: number) => void }) {
  const { seq, settlement } = answer;
  return (
    <div class="notice ok" role="status">
      <p>
        <b>Done.</b> It is moment {seq} of this world
        {settlement?.success === true && ', and paid for'}.{' '}
        <button type="button" class="link" onClick={() => onMoment(seq)}>
          Look at it
        </button>
      </p>
      <EntryText entry={entryOf(answer)} isBare />
    </div>
  );
}

/** The answer as its entry tells it: values as they are now. */
const entryOf = ({ seq, event, stateChanges, result }: PublicAnswer) =>
  ({
    seq,
    kind: 'execution',
    event,
    status: 'succeeded',
    trigger: 'public',
    caller: '',
    result,
    error: null,
    changes: Object.entries(stateChanges ?? {}).map(([key, set]) => {
      const colon = key.indexOf(':');
      const [entitySchema, instanceId] = [key.slice(0, colon), key.slice(colon + 1)];
      return {
        entitySchema,
        instanceId,
        op: set === null ? 'delete' : 'update',
        set: set ?? {},
        unset: [],
        revision: 1,
      };
    }),
  }) as unknown as Entry;
