import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { classes } from '../ui/classes.js';
import { Dialog } from '../ui/dialog.js';
import { useSettled } from '../ui/settled.js';
import { ranked } from './matches.js';
import { useItems } from './sources.js';

export interface PaletteProps {
  onClose: () => void;
}

/** Finds anything by its name and leads there. */
export default function Palette({ onClose }: PaletteProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="Go to" open onClose={onClose} initialFocus={field}>
      <Search field={field} onClose={onClose} />
    </Dialog>
  );
}

function Search({ field, onClose }: PaletteProps & { field: RefObject<HTMLInputElement | null> }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const items = ranked(useItems(useSettled(text)), text);
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const go = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    onClose();
    item.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) setAt((chosen + step + items.length) % items.length);
    else if (event.key === 'Enter') go(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={field}
        role="combobox"
        aria-label="Find worlds, events, deployments, instances, entries and docs"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={items.length > 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder="A name, an instance id, or the number of an entry"
        className="control"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Found"
        className="mt-2 max-h-[50dvh] min-h-40 overflow-y-auto"
      >
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, as of every combobox
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
          <div
            key={item.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => go(index)}
            onMouseMove={() => setAt(index)}
            className={classes(
              'flex cursor-pointer items-baseline gap-3 rounded-md px-2.5 py-1.5',
              index === chosen && 'bg-accent-soft',
            )}
          >
            <span className="min-w-0 truncate">{item.label}</span>
            {item.detail && (
              <span className="min-w-0 shrink-2 truncate text-sm text-muted">{item.detail}</span>
            )}
            <span className="ml-auto shrink-0 text-sm text-muted">{item.kind}</span>
          </div>
        ))}
      </div>
      <p role="status" className="mt-1 text-sm text-muted">
        {items.length === 0 ? 'Nothing found.' : ''}
      </p>
    </>
  );
}
