import { useState } from 'react';
import { useBindings, useDeploymentRef, useModels } from '../api/deployments.js';
import { useEvents } from '../api/worlds.js';
import { VersionSelect } from '../deployments/version-select.js';
import { Button } from '../ui/button.js';
import { CheckField, Form, NumberField, SelectField } from '../ui/field.js';
import { Card } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { numberIn } from '../ui/typed-text.js';
import type { Question } from './replay.js';

interface WhatIfFormProps {
  isRunning: boolean;
  onReplay: (question: Question) => void;
}

/** Which entries, and what is different. */
export function WhatIfForm({ isRunning, onReplay }: WhatIfFormProps) {
  const ref = useDeploymentRef();
  const [search, show] = usePageSearch('/worlds/$world/deployments/$deployment/what-if', { replace: true });
  const { from: first, to: last, event, model = '' } = search;
  const [from, setFrom] = useState(first === undefined ? '' : String(first));
  const [to, setTo] = useState(last === undefined ? '' : String(last));
  const [times, setTimes] = useState('1');
  const [keep, setKeep] = useState(false);
  const events = useEvents(ref.world).data?.data ?? [];
  const bound = useBindings(ref).data?.find((binding) => binding.event === event)?.eventVersion;
  const models = useModels().data?.data ?? [];
  const version = search.version ?? events.find(({ name }) => name === event)?.latestVersion ?? bound ?? 1;
  const names = new Set([...events.map(({ name }) => name), ...(event === undefined ? [] : [event])]);
  const question: Question = {
    from: numberIn(from, true),
    to: numberIn(to, true),
    times: numberIn(times, true) ?? 1,
    keep,
    ...(event !== undefined && { versions: { [event]: version } }),
    ...(model !== '' && { model }),
  };
  return (
    <Card>
      <Form onSubmit={() => onReplay(question)}>
        <div className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <NumberField
            label="From entry"
            isWhole
            value={from}
            onChange={setFrom}
            hint="Empty: from the beginning."
          />
          <NumberField label="To entry" isWhole value={to} onChange={setTo} hint="Empty: to the end." />
          <NumberField
            label="Times"
            isWhole
            value={times}
            onChange={setTimes}
            hint="How models spread: up to 20."
          />
          <SelectField
            label="Another version of"
            value={event ?? ''}
            onChange={(next) => void show({ event: next === '' ? undefined : next, version: undefined })}
            options={[['', 'no event: as recorded'], ...[...names].map((name) => [name, name] as const)]}
          />
          {event !== undefined && (
            <VersionSelect event={event} value={version} onChange={(next) => void show({ version: next })} />
          )}
          <SelectField
            label="Model"
            value={model}
            onChange={(next) => void show({ model: next === '' ? undefined : next })}
            options={[
              ['', 'as recorded'],
              ...models.map(({ modelId, modelDisplayName }) => [modelId, modelDisplayName] as const),
            ]}
          />
        </div>
        <div className="mt-4 flex flex-wrap items-center gap-4">
          <Button type="submit" look="primary" pending={isRunning}>
            Replay
          </Button>
          <CheckField label="Keep the fork" checked={keep} onChange={setKeep} />
        </div>
      </Form>
    </Card>
  );
}
