import type { Event } from '../api/records.js';
import { ButtonLink } from '../ui/button.js';
import { CheckField } from '../ui/field.js';

export interface EventChoiceProps {
  world: string;
  events: readonly Event[];
  /** Event → version that is bound. */
  chosen: ReadonlyMap<string, number>;
  onChange: (chosen: ReadonlyMap<string, number>) => void;
}

/** Which events a new deployment runs, each in its latest version; another one can be bound later. */
export function EventChoice({ world, events, chosen, onChange }: EventChoiceProps) {
  const toggle = ({ name, latestVersion }: Event, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen && latestVersion !== null) next.set(name, latestVersion);
    else next.delete(name);
    onChange(next);
  };
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">Events that it runs</legend>
      {events.length === 0 && (
        <p className="mb-2 text-muted">The world has no event yet. Events can be bound later, too.</p>
      )}
      <div className="grid gap-1.5 sm:grid-cols-2">
        {events.map((event) => (
          <CheckField
            key={event.name}
            label={
              event.latestVersion === null ? event.name : `${event.name}, version ${event.latestVersion}`
            }
            hint={event.latestVersion === null ? 'It has no version.' : event.description}
            checked={chosen.has(event.name)}
            disabled={event.latestVersion === null}
            onChange={(isChosen) => toggle(event, isChosen)}
          />
        ))}
      </div>
      {events.length === 0 && (
        <ButtonLink to="/worlds/$world" params={{ world }} size="small">
          Events of the world
        </ButtonLink>
      )}
    </fieldset>
  );
}
