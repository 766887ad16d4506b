import type { EntityInstance } from '@orrery/sdk';
import { useCallback, useMemo, useState } from 'react';
import { useReadAnew } from '../api/change.js';
import { useDeployment, useDeploymentRef } from '../api/deployments.js';
import type { EntitySchema } from '../api/records.js';
import { useSchemas } from '../api/worlds.js';
import { NewInstance } from '../live/new-instance.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Form, named, SelectField, TextField } from '../ui/field.js';
import { Await, ErrorNote, Progress, Said } from '../ui/messages.js';
import { Card, Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { useSettled } from '../ui/settled.js';
import { DataTable } from './data-table.js';
import { DeleteInstances, EditInstance } from './edit-instance.js';
import { Export } from './export.js';
import { Import } from './import.js';
import { type DataQuery, instancesKey, useFound, whereOf } from './queries.js';

const ROUTE = '/worlds/$world/deployments/$deployment/data';

/** The instances of one schema as a table: found, sorted, changed, imported and exported. */
export default function DataPage() {
  const { world } = useDeploymentRef();
  const [{ schema }] = usePageSearch(ROUTE);
  return (
    <Await query={useSchemas(world)} what="the entity schemas">
      {({ data }) => {
        const shown = data.find(({ name }) => name === schema) ?? data[0];
        if (shown === undefined) return <NoSchemas world={world} />;
        return <Data key={shown.name} schema={shown} schemas={data} />;
      }}
    </Await>
  );
}

const NoSchemas = ({ world }: { world: string }) => (
  <Empty
    title="The world has no entity schema yet."
    action={
      <ButtonLink to="/worlds/$world" params={{ world }}>
        To the world
      </ButtonLink>
    }
  >
    Each schema has a table of its instances here.
  </Empty>
);

function Data({ schema, schemas }: { schema: EntitySchema; schemas: readonly EntitySchema[] }) {
  const ref = useDeploymentRef();
  const [{ where: condition = '', find = '', order }, show] = usePageSearch(ROUTE, { replace: true });
  const found = useSettled(find);
  const query: DataQuery = { schema: schema.name, where: whereOf(found, condition), orderBy: order ?? 'id' };
  const canChange = useDeployment(ref).data?.mode === 'upgradable';
  const readAnew = useReadAnew();
  return (
    <Section
      title={`Instances of ${schema.name}`}
      lead="As they are now. Each change by hand is an entry of the journal."
      actions={
        <>
          {canChange && <NewInstance schemas={schemas} schema={schema.name} />}
          {canChange && <Import schema={schema.name} attributes={schema.attributes} />}
          <Export query={query} attributes={schema.attributes} isOff={false} />
          <Button size="small" onClick={() => void readAnew([instancesKey(ref)])}>
            Read again
          </Button>
        </>
      }
    >
      <Card className="mb-3 grid grid-cols-1 items-start gap-4 sm:grid-cols-[1fr_1fr_2fr]">
        <SelectField
          label="Entity schema"
          value={schema.name}
          onChange={(name) => void show({ schema: name, where: undefined, order: undefined })}
          options={named(schemas.map(({ name }) => name))}
        />
        <TextField
          label="Find by instance id"
          type="search"
          value={find}
          onChange={(text) => void show({ find: text || undefined })}
        />
        <Condition
          schema={schema}
          value={condition}
          onChange={(text) => void show({ where: text || undefined })}
        />
      </Card>
      <Found
        // Another question begins without a choice.
        key={query.where}
        query={query}
        schema={schema}
        canChange={canChange}
        order={order}
        onOrder={(next) => void show({ order: next })}
      />
    </Section>
  );
}

interface ConditionProps {
  schema: EntitySchema;
  value: string;
  onChange: (condition: string) => void;
}

function Condition({ schema, value, onChange }: ConditionProps) {
  const [text, setText] = useState(value);
  const [applied, setApplied] = useState(value);
  // What the address says otherwise, such as by a link.
  if (applied !== value) {
    setApplied(value);
    setText(value);
  }
  const number = schema.attributes.find(({ type }) => type === 'integer' || type === 'float');
  return (
    <Form onSubmit={() => onChange(text.trim())} className="flex items-start gap-2">
      <TextField
        className="grow"
        label="Condition"
        value={text}
        onChange={setText}
        spellCheck={false}
        hint={
          <>
            CEL over instance and id, such as{' '}
            <code className="font-mono">{`instance.${number?.name ?? 'wins'} > 3`}</code>. Enter applies it.
          </>
        }
      />
      <Button type="submit" className="mt-6.5" disabled={text.trim() === value}>
        Apply
      </Button>
    </Form>
  );
}

interface FoundProps {
  query: DataQuery;
  schema: EntitySchema;
  canChange: boolean;
  order: string | undefined;
  onOrder: (order: string | undefined) => void;
}

function Found({ query, schema, canChange, order, onOrder }: FoundProps) {
  const found = useFound(useDeploymentRef(), query);
  const [chosen, setChosen] = useState<ReadonlyMap<string, EntityInstance>>(new Map());
  const { hasNextPage, isFetching, fetchNextPage } = found;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const rows = useMemo(() => found.data?.pages.flatMap(({ data }) => data) ?? [], [found.data]);
  // What is no longer shown is not deleted by a click that does not see it.
  const ticked = useMemo(() => rows.filter(({ instanceId }) => chosen.has(instanceId)), [rows, chosen]);
  if (found.error !== null)
    return (
      <ErrorNote title="They could not be read" error={found.error} onRetry={() => void found.refetch()} />
    );
  if (found.data === undefined) return <Progress label="Loading the instances" />;
  const total = found.data.pages[0]?.total ?? rows.length;
  const said = <Said said={{ warnings: found.data.pages[0]?.warnings }} />;
  if (rows.length === 0)
    return (
      <>
        {said}
        <Nothing isAll={query.where === undefined} schema={schema.name} />
      </>
    );
  const tick = (instance: EntityInstance) => {
    const next = new Map(chosen);
    if (!next.delete(instance.instanceId)) next.set(instance.instanceId, instance);
    setChosen(next);
  };
  return (
    <>
      {said}
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-3 text-sm text-muted" role="status">
        {total.toLocaleString('en')} {total === 1 ? 'instance' : 'instances'}
        {ticked.length > 0 && <DeleteInstances instances={ticked} onDone={() => setChosen(new Map())} />}
      </div>
      <DataTable
        attributes={schema.attributes}
        rows={rows}
        total={total}
        orderBy={order}
        onOrder={onOrder}
        ticked={new Set(ticked.map(({ instanceId }) => instanceId))}
        onTick={canChange ? tick : undefined}
        onEnd={onEnd}
        actions={(instance) =>
          canChange && <EditInstance instance={instance} attributes={schema.attributes} />
        }
      />
    </>
  );
}

const Nothing = ({ isAll, schema }: { isAll: boolean; schema: string }) =>
  isAll ? (
    <Empty title={`There is no ${schema} yet.`}>
      Instances are created by hand, by an import, and by events that change one that does not exist yet.
    </Empty>
  ) : (
    <Empty title="None fits.">
      A missing attribute makes a test false: has(instance.x) tells whether it is there.
    </Empty>
  );
