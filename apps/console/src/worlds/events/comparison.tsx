import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { EventVersion } from '../../api/records.js';
import { Diff } from '../../ui/diff.js';
import { CheckField, SelectField } from '../../ui/field.js';
import { JsonView } from '../../ui/json-view.js';
import { Section } from '../../ui/page.js';

const ROUTE = '/worlds/$world/events/$event';

/** Any two versions side by side; a version alone is shown as it is. The address holds which. */
export function Comparison({ versions }: { versions: readonly EventVersion[] }) {
  const search = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: ROUTE });
  const [isWhole, setWhole] = useState(false);
  const right = find(versions, search.right) ?? versions.at(-1);
  const left = find(versions, search.left) ?? before(versions, right);
  const [shownLeft, shownRight] = [useDefinition(left), useDefinition(right)];
  if (right === undefined) return null;
  const choose = (part: 'left' | 'right') => (value: string) =>
    void navigate({ search: (now) => ({ ...now, [part]: Number(value) }), replace: true });
  const options = versions.map(({ version }) => [String(version), `Version ${version}`] as const);
  return (
    <Section
      title={
        left === undefined
          ? `Version ${right.version}`
          : `Version ${left.version} and version ${right.version}`
      }
    >
      {left === undefined ? (
        <JsonView value={shownRight} label={`Definition of version ${right.version}`} />
      ) : (
        <>
          <div className="mb-3 flex flex-wrap items-end gap-3">
            <SelectField
              label="Left"
              value={String(left.version)}
              onChange={choose('left')}
              options={options}
            />
            <SelectField
              label="Right"
              value={String(right.version)}
              onChange={choose('right')}
              options={options}
            />
            <CheckField
              label="What is the same too"
              checked={isWhole}
              onChange={setWhole}
              className="pb-1.5"
            />
          </div>
          <Diff
            label={`Version ${left.version} and version ${right.version}`}
            titles={[`Version ${left.version}`, `Version ${right.version}`]}
            left={shownLeft}
            right={shownRight}
            onlyChanges={!isWhole}
          />
        </>
      )}
    </Section>
  );
}

const find = (versions: readonly EventVersion[], number: number | undefined): EventVersion | undefined =>
  versions.find(({ version }) => version === number);

/** The version before a version; undefined for the first. */
const before = (
  versions: readonly EventVersion[],
  version: EventVersion | undefined,
): EventVersion | undefined => versions.findLast((one) => one.version < (version?.version ?? 0));

/** What a version defines, without what it is called and when it was made. */
function useDefinition(version: EventVersion | undefined): object | undefined {
  return useMemo(() => {
    if (version === undefined) return undefined;
    const { inputSchema, outputSchema, readEntities, stateChanges, mutationSettings } = version;
    const { executionSettings, guards } = version;
    return {
      inputSchema,
      outputSchema,
      readEntities,
      stateChanges,
      mutationSettings,
      executionSettings,
      guards,
    };
  }, [version]);
}
