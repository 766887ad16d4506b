import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { EventVersion } from '../api/records.js';
import { Diff } from '../ui/diff/diff.js';
import { CheckField, SelectField } from '../ui/field.js';
import { Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { VersionView } from './version-view.js';

const ROUTE = '/worlds/$world/events/$event';

export function Versions({ versions }: { versions: readonly EventVersion[] }) {
  const { right: chosen } = useSearch({ from: ROUTE });
  const right = find(versions, chosen) ?? versions.at(-1);
  if (right === undefined) return null;
  return (
    <>
      <Section title={`Version ${right.version}`}>
        <VersionView version={right} definition={definitionOf(right)} />
      </Section>
      {versions.length > 1 && <Comparison versions={versions} right={right} />}
    </>
  );
}

function Comparison({ versions, right }: { versions: readonly EventVersion[]; right: EventVersion }) {
  const [search, show] = usePageSearch(ROUTE, { replace: true });
  const [isWhole, setWhole] = useState(false);
  const left = find(versions, search.left) ?? before(versions, right);
  const [shownLeft, shownRight] = [useDefinition(left), useDefinition(right)];
  const choose = (part: 'left' | 'right') => (value: string) => void show({ [part]: Number(value) });
  const options = versions.map(({ version }) => [String(version), `Version ${version}`] as const);
  return (
    <Section title={`Version ${left.version} and version ${right.version}`}>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <SelectField label="Left" value={String(left.version)} onChange={choose('left')} options={options} />
        <SelectField
          label="Right"
          value={String(right.version)}
          onChange={choose('right')}
          options={options}
        />
        <CheckField label="What is the same too" checked={isWhole} onChange={setWhole} className="pb-1.5" />
      </div>
      <Diff
        label={`Version ${left.version} and version ${right.version}`}
        titles={[`Version ${left.version}`, `Version ${right.version}`]}
        left={shownLeft}
        right={shownRight}
        onlyChanges={!isWhole}
      />
    </Section>
  );
}

const find = (versions: readonly EventVersion[], number: number | undefined): EventVersion | undefined =>
  versions.find(({ version }) => version === number);

/** The version before a version; of the first the one after it. */
const before = (versions: readonly EventVersion[], version: EventVersion): EventVersion =>
  versions.findLast((one) => one.version < version.version) ??
  versions.find((one) => one.version > version.version) ??
  version;

const useDefinition = (version: EventVersion): object => useMemo(() => definitionOf(version), [version]);

function definitionOf(version: EventVersion): object {
  const parts = [
    'inputSchema',
    'outputSchema',
    'readEntities',
    'stateChanges',
    'mutationSettings',
    'executionSettings',
    'guards',
  ] as const;
  return Object.fromEntries(parts.map((part) => [part, version[part]]));
}
