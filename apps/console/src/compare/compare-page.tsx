import { useMemo } from 'react';
import { useDeployment, useDeploymentRef, useDeployments } from '../api/deployments.js';
import { titleOf } from '../live/entry-words.js';
import { NumberField, SelectField } from '../ui/field.js';
import { Diff } from '../ui/lazily.js';
import { Await } from '../ui/messages.js';
import { Card, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { useSettled } from '../ui/settled.js';
import { numberIn } from '../ui/typed-text.js';
import { type Side, type SideState, useNearStates, useSideEntry, useSideState } from './queries.js';
import { differing, shownEntry } from './states.js';

const ROUTE = '/worlds/$world/deployments/$deployment/compare';

/** Two moments of a deployment, or a fork and its source: the entries, and the instances that differ after them. */
export default function ComparePage() {
  const ref = useDeploymentRef();
  const [{ at, with: other = ref.deployment, to }] = usePageSearch(ROUTE);
  // While a number is typed nothing is read.
  const left: Side = { ref, seq: useSettled(at ?? 0) || undefined };
  const right: Side = { ref: { ...ref, deployment: other }, seq: useSettled(to ?? 0) || undefined };
  const titles = useTitles(left, right);
  return (
    <>
      <Section title="Compare" lead="Two moments of this deployment, or this one and another.">
        <Choice />
      </Section>
      {left.seq !== undefined && right.seq !== undefined && (
        <Entries left={left} right={right} titles={titles} />
      )}
      <States left={left} right={right} titles={titles} />
    </>
  );
}

/** `Season 1 after entry 4`; the name alone where both sides have another one. */
function useTitles(left: Side, right: Side): readonly [string, string] {
  const names = [useDeployment(left.ref).data?.name ?? '', useDeployment(right.ref).data?.name ?? ''];
  const isOne = left.ref.deployment === right.ref.deployment;
  const sideTitle = ({ seq }: Side, name = '') => {
    const when = seq === undefined ? 'now' : `after entry ${seq}`;
    return isOne ? when.replace(/^./, (letter) => letter.toUpperCase()) : `${name} ${when}`;
  };
  const [first, second] = [sideTitle(left, names[0]), sideTitle(right, names[1])];
  return first === second ? [first, `${second} (the same)`] : [first, second];
}

function Choice() {
  const { world, deployment } = useDeploymentRef();
  const [{ at, with: other = deployment, to }, show] = usePageSearch(ROUTE, { replace: true });
  const source = useDeployment({ world, deployment }).data?.source?.address;
  const listed = useDeployments(world).data?.data ?? [];
  const names = new Map(listed.map(({ address, name }) => [address, name]));
  const options = new Map([
    [deployment, 'this deployment'],
    ...(source === undefined
      ? []
      : [[source, `its source${names.has(source) ? `, ${names.get(source)}` : ''}`] as const]),
    ...listed
      .filter(({ address }) => address !== deployment && address !== source)
      .map(({ address, name }) => [address, name] as const),
    ...(names.has(other) || other === deployment || other === source ? [] : [[other, other] as const]),
  ]);
  const seqField = (label: string, seq: number | undefined, change: (next: number | undefined) => void) => (
    <NumberField
      key={label}
      label={label}
      isWhole
      value={seq === undefined ? '' : String(seq)}
      onChange={(text) => change(numberIn(text, true))}
      hint="Empty: as it is now."
    />
  );
  return (
    <Card className="grid grid-cols-1 gap-4 sm:grid-cols-3">
      {seqField('This deployment after entry', at, (next) => void show({ at: next }))}
      <SelectField
        label="With"
        value={other}
        onChange={(next) => void show({ with: next === deployment ? undefined : next })}
        options={[...options]}
      />
      {seqField('The other after entry', to, (next) => void show({ to: next }))}
    </Card>
  );
}

interface SidesProps {
  left: Side;
  right: Side;
  titles: readonly [string, string];
}

function Entries({ left, right, titles }: SidesProps) {
  const [first, second] = [useSideEntry(left), useSideEntry(right)];
  const missing = [first, second].findIndex(({ data }) => data === null);
  return (
    <Section title="The entries">
      <Await query={first} what="the entry">
        {(mine) => (
          <Await query={second} what="the other entry">
            {(theirs) =>
              mine === null || theirs === null ? (
                <p className="text-muted">There is no entry {(missing === 0 ? left : right).seq}.</p>
              ) : (
                <>
                  <p className="mb-2 text-muted">
                    {titleOf(mine)} and {titleOf(theirs)}
                  </p>
                  <Diff
                    label="Both entries"
                    left={shownEntry(mine)}
                    right={shownEntry(theirs)}
                    titles={titles}
                    onlyChanges
                  />
                </>
              )
            }
          </Await>
        )}
      </Await>
    </Section>
  );
}

function States({ left, right, titles }: SidesProps) {
  return (
    <Await query={useNearStates(left, right)} what="what has changed between them">
      {(near) =>
        near === null ? (
          <WholeStates left={left} right={right} titles={titles} />
        ) : (
          <Differences left={near[0]} right={near[1]} titles={titles} />
        )
      }
    </Await>
  );
}

function WholeStates({ left, right, titles }: SidesProps) {
  const [first, second] = [useSideState(left), useSideState(right)];
  return (
    <Await query={first} what="the instances">
      {(mine) => (
        <Await query={second} what="the other instances">
          {(theirs) => <Differences left={mine} right={theirs} titles={titles} />}
        </Await>
      )}
    </Await>
  );
}

/** Instances whose difference is shown. */
const MOST_SHOWN = 50;

interface DifferencesProps {
  left: SideState;
  right: SideState;
  titles: readonly [string, string];
}

function Differences({ left, right, titles }: DifferencesProps) {
  const all = useMemo(() => differing(left, right), [left, right]);
  const total = Math.max(left.total, right.total);
  const rest = all.length - MOST_SHOWN;
  const isCut = left.isCut || right.isCut;
  return (
    <Section
      title="The instances"
      lead={`${all.length.toLocaleString('en')} of ${total.toLocaleString('en')} differ.${isCut ? ' Further ones were not compared.' : ''}`}
    >
      {all.length === 0 ? (
        <p className="text-muted">
          {isCut ? 'Those that were compared are the same.' : 'They are the same on both sides.'}
        </p>
      ) : (
        <ul className="space-y-3">
          {all.slice(0, MOST_SHOWN).map((one) => (
            <li key={one.instance}>
              <p className="mb-1 text-sm font-medium break-all">{one.instance}</p>
              <Diff
                label={`Difference of ${one.instance}`}
                left={one.left}
                right={one.right}
                titles={titles}
                onlyChanges={one.left !== undefined && one.right !== undefined}
              />
            </li>
          ))}
        </ul>
      )}
      {rest > 0 && <p className="mt-2 text-muted">and {rest.toLocaleString('en')} more</p>}
    </Section>
  );
}
