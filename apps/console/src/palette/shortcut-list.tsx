import { Dialog } from '../ui/dialog.js';
import { CheckField } from '../ui/field.js';
import { shortcutsNow, turnKeys, useKeysAreOn } from '../ui/shortcuts.js';

/** The keys that work on the page now. */
export default function ShortcutList({ onClose }: { onClose: () => void }) {
  const areOn = useKeysAreOn();
  return (
    <Dialog title="Keyboard shortcuts" open onClose={onClose}>
      <table className="w-full text-left">
        <thead className="sr-only">
          <tr>
            <th scope="col">Keys</th>
            <th scope="col">What they do</th>
          </tr>
        </thead>
        <tbody>
          <Line keys="Ctrl K" words="Go to anything; ⌘ K on a Mac" />
          {shortcutsNow().map(({ keys, words }) => (
            <Line key={keys} keys={keys} words={words} />
          ))}
        </tbody>
      </table>
      <CheckField
        className="mt-4"
        label="Shortcuts of single keys"
        hint="They never work while one types. Ctrl K always does."
        checked={areOn}
        onChange={turnKeys}
      />
    </Dialog>
  );
}

const Line = ({ keys, words }: { keys: string; words: string }) => (
  <tr>
    <th scope="row" className="w-28 py-1 font-normal whitespace-nowrap">
      {keys.split(' ').map((key) => (
        <kbd
          key={key}
          className="mr-1 rounded border border-line-strong/60 bg-sunken px-1.5 font-mono text-sm"
        >
          {key}
        </kbd>
      ))}
    </th>
    <td className="py-1">{words}</td>
  </tr>
);
