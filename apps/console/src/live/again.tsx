import { useState } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import { ButtonLink } from '../ui/button.js';
import { SCROLLABLE } from '../ui/classes.js';
import { Tabs } from '../ui/tabs.js';
import { Copy } from '../ui/values.js';
import { type Commands, commandsOf } from './as-commands.js';
import type { JournalEntry } from './entry-words.js';

/** What one does with an entry: its input again, by hand or by a program, and the entry beside another one. */
export function Again({ entry: { kind, event, input, seq } }: { entry: JournalEntry }) {
  const ref = useDeploymentRef();
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap gap-2">
        {kind === 'execution' && event !== null && (
          <ButtonLink
            size="small"
            to="/worlds/$world/deployments/$deployment/run"
            params={ref}
            {...runAgain(event, input)}
          >
            Run again
          </ButtonLink>
        )}
        <ButtonLink
          size="small"
          to="/worlds/$world/deployments/$deployment/compare"
          params={ref}
          search={{ at: seq, to: Math.max(1, seq - 1) }}
        >
          Compare
        </ButtonLink>
      </div>
      {kind === 'execution' && event !== null && (
        <AsCommand forms={commandsOf(location.origin, ref, { event, input })} />
      )}
    </div>
  );
}

/** Longer inputs do not go into the address: servers bound that. */
const LONGEST_ADDRESS = 2000;

/** What leads to the form of the event with this input. */
const runAgain = (event: string, input: JournalEntry['input']) =>
  JSON.stringify(input).length > LONGEST_ADDRESS
    ? { search: { event }, state: { input } }
    : { search: { event, input } };

const FORMS = [
  ['curl', 'curl'],
  ['orrery', 'orrery'],
  ['sdk', 'SDK'],
] as const satisfies readonly (readonly [keyof Commands, string])[];

function AsCommand({ forms }: { forms: Commands }) {
  const [form, setForm] = useState<keyof Commands>('curl');
  return (
    <details>
      <summary className="text-sm font-medium text-muted">As a command</summary>
      <Tabs
        label="Forms of the command"
        value={form}
        onChange={setForm}
        tabs={FORMS.map(([value, label]) => ({
          value,
          label,
          content: (
            <>
              <pre
                {...SCROLLABLE}
                className="max-h-60 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-sm leading-5"
              >
                {forms[value]}
              </pre>
              <div className="mt-1 flex items-center gap-2 text-sm text-muted">
                <Copy text={forms[value]} what={`command for ${label}`} />
                <span>
                  The key is in <code className="font-mono">ORRERY_KEY</code>.
                </span>
              </div>
            </>
          ),
        }))}
      />
    </details>
  );
}
