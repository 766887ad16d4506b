import { useIsFetching } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { deploymentKey, useDeploymentRef } from '../api/deployments.js';
import { Button } from '../ui/button.js';
import { Select } from '../ui/field.js';
import { useShortcuts } from '../ui/shortcuts.js';
import { useLive } from './live.js';

/** Entries a second. */
const PACES = ['1', '2', '5', '10', '25'] as const;
type Pace = (typeof PACES)[number];

/** Goes from entry to entry by itself, to the end or until it is stopped. It waits for what is being read of one. */
export function Play() {
  const { tail, seq, go } = useLive();
  const [isPlaying, setPlaying] = useState(false);
  const [pace, setPace] = useState<Pace>('2');
  const isReading = useIsFetching({ queryKey: [...deploymentKey(useDeploymentRef()), 'instances', seq] }) > 0;
  const isEnd = seq >= tail.head;
  useEffect(() => {
    if (!isPlaying || isReading) return;
    if (isEnd) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => go(seq + 1), 1000 / Number(pace));
    return () => clearTimeout(timer);
  }, [isPlaying, isReading, isEnd, seq, pace, go]);
  const turn = () => {
    if (!isPlaying && isEnd) go(1);
    setPlaying(!isPlaying);
  };
  useShortcuts([{ keys: 'x', words: 'Play the journal, or pause', run: turn }]);
  return (
    <span className="inline-flex items-center gap-1.5">
      <Button size="small" aria-pressed={isPlaying} disabled={tail.head < 2} onClick={turn}>
        <span aria-hidden="true">{isPlaying ? '❚❚' : '▶'}</span> {isPlaying ? 'Pause' : 'Play'}
      </Button>
      <Select<Pace>
        aria-label="Speed of playing"
        className="control w-auto py-0.5 text-sm"
        value={pace}
        onChange={setPace}
        options={PACES.map((value) => [value, `${value}/s`])}
      />
    </span>
  );
}
