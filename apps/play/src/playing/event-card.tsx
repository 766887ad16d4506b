import { type JsonObject, OrreryError, type PublicAnswer } from '@orrery/sdk';
import { useEffect, useId, useState } from 'preact/hooks';
import { EntryText } from '../journal/journal.js';
import { Name, Notice, priceText, valueText } from '../ui/parts.js';
import { wordsOf } from '../wallets/wallets.js';
import type { OpenWorld } from '../world/follow-world.js';
import { orrery } from '../world/read-world.js';
import type { Entry, PublicEvent } from '../world/records.js';
import type { Attempt } from './attempt.js';
import { EventField } from './event-field.js';
import { type Field, fieldAt, fieldsOf, inputOf } from './fields.js';
import { suggestionsFor } from './suggestions.js';

type Outcome =
  | { readonly kind: 'none' | 'playing' | 'paying' }
  | { readonly kind: 'played'; readonly answer: PublicAnswer }
  | { readonly kind: 'failed'; readonly text: string };

/** A play of which nobody knows whether it took effect, and why. */
interface UnknownPlay {
  readonly attempt: Attempt;
  readonly text: string;
}

interface CardProps {
  readonly event: PublicEvent;
  readonly world: OpenWorld;
  readonly isOpen: boolean;
  /** Makes one play of the event with the player's wallet, and asks for one where there is none. @throws Error in words */
  readonly begin: (event: PublicEvent, input: JsonObject, onPaying: () => void) => Promise<Attempt>;
  /** Told whether a play of the event is under way or of unknown outcome: the card has to stay. */
  readonly onHeld: (event: PublicEvent, isHeld: boolean) => void;
  readonly onMoment: (seq: number) => void;
}

/** An event as a form, with its price and what became of it. */
export function EventCard({ event: told, isOpen, ...rest }: CardProps) {
  const [isShown, setShown] = useState(isOpen);
  const event = useContract(told, rest.world.deployment.address, isShown);
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
      {fields !== undefined && <EventForm event={event} fields={fields} {...rest} />}
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

type FormProps = Omit<CardProps, 'isOpen'> & { readonly fields: Field[] };

function EventForm({ event, fields, world, begin, onHeld, onMoment }: FormProps) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const plays = usePlays((input, onPaying) => begin(event, input, onPaying));
  const { wrong, outcome, unknown, isBusy } = plays;
  const id = useId();
  const isHeld = isBusy || unknown.length > 0;
  useEffect(() => onHeld(event, isHeld), [event.event, isHeld]);
  const submit = () => {
    const entered = inputOf(fields, typed);
    if ('wrong' in entered) return plays.refuse(entered.wrong);
    const input = fields === FREE ? entered.input[JSON_FIELD] : entered.input;
    void plays.play((input ?? {}) as JsonObject);
  };
  const { isPaused } = world.deployment;
  return (
    <form
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (!isBusy && !isPaused) submit();
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
      <OutcomeView outcome={outcome} onMoment={onMoment} />
      {unknown.map((play) => (
        <UnknownView
          key={keyOf(play.attempt)}
          play={play}
          isPaid={event.priceUsd > 0}
          isBusy={isBusy}
          onAgain={plays.again}
        />
      ))}
    </form>
  );
}

/** Two plays with the same input are one while the outcome of the first is unknown. */
const keyOf = ({ input }: Pick<Attempt, 'input'>): string => JSON.stringify(input);

/** The plays of one form: what became of the last one, and those of which nobody knows. */
function usePlays(begin: (input: JsonObject, onPaying: () => void) => Promise<Attempt>) {
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' });
  const [unknown, setUnknown] = useState<readonly UnknownPlay[]>([]);
  const known = (input: JsonObject) => unknown.find(({ attempt }) => keyOf(attempt) === keyOf({ input }));
  const settle = (attempt: Attempt, left: readonly UnknownPlay[], next: Outcome) => {
    setUnknown((now) => [...now.filter((one) => one.attempt !== attempt), ...left]);
    setOutcome(next);
  };
  const send = async (attempt: Attempt, wasUnknown: boolean) => {
    setOutcome({ kind: 'playing' });
    try {
      settle(attempt, [], { kind: 'played', answer: await attempt.send() });
    } catch (error) {
      setWrong(error instanceof OrreryError ? mistakesIn(error) : {});
      const text = wordsOf(error);
      if (attempt.isUnknownAfter(error, wasUnknown)) settle(attempt, [{ attempt, text }], { kind: 'none' });
      else settle(attempt, [], { kind: 'failed', text });
    }
  };
  const play = async (input: JsonObject) => {
    setWrong({});
    const before = known(input);
    if (before !== undefined) return send(before.attempt, true);
    setOutcome({ kind: 'playing' });
    try {
      await send(await begin(input, () => setOutcome({ kind: 'paying' })), false);
    } catch (error) {
      setOutcome({ kind: 'failed', text: wordsOf(error) });
    }
  };
  const isBusy = outcome.kind === 'playing' || outcome.kind === 'paying';
  const again = (attempt: Attempt) => void send(attempt, true);
  return { wrong, outcome, unknown, isBusy, play, again, refuse: setWrong };
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
}

function OutcomeView({ outcome, onMoment }: OutcomeProps) {
  switch (outcome.kind) {
    case 'none':
    case 'playing':
      return null;
    case 'paying':
      return <Notice>It is not known yet whether the payment was taken. This may take some minutes.</Notice>;
    case 'failed':
      return <Notice tone="bad">{outcome.text}</Notice>;
    case 'played':
      return <Played answer={outcome.answer} onMoment={onMoment} />;
  }
}

interface UnknownProps {
  readonly play: UnknownPlay;
  readonly isPaid: boolean;
  readonly isBusy: boolean;
  readonly onAgain: (attempt: Attempt) => void;
}

/** Stays until it is known: whatever is played meanwhile, this may have taken effect, and may have been paid. */
function UnknownView({ play: { attempt, text }, isPaid, isBusy, onAgain }: UnknownProps) {
  return (
    <>
      <Notice tone="bad">
        <Name>{valueText(attempt.input)}</Name>: {text} Nobody knows whether it took effect. Ask again, or
        play the same again: it takes effect once{isPaid && ', and is paid once'}.
      </Notice>
      <button type="button" disabled={isBusy} onClick={() => onAgain(attempt)}>
        Ask again
      </button>
    </>
  );
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
