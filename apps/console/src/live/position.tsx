import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useCallback, useEffect, useState } from 'react';
import { useDeploymentRef } from '../api/deployments.js';
import { Button, ButtonLink } from '../ui/button.js';
import { useShortcuts } from '../ui/shortcuts.js';
import { Badge } from '../ui/values.js';
import { useTimeText } from '../ui/zone.js';
import { Failures } from './failures.js';
import { Fork } from './fork.js';
import { JumpToTime } from './jump-to-time.js';
import { type Live, useLive } from './live.js';
import { useLiveSearch } from './live-search.js';
import { Play } from './playing.js';

export interface PositionProps {
  /** Whether the last entry is shown, as entries come. */
  isFollowing: boolean;
  /** Whether new entries come. */
  isFollowed: boolean;
  /** Since when the connection is lost; undefined while it is there. */
  lostAt: Date | undefined;
  /** An entry after the end that was asked for: the last one is shown instead. */
  missing: number | undefined;
}

export function Position({ missing, ...following }: PositionProps) {
  const { isFollowing } = following;
  const { tail, seq, go } = useLive();
  const ref = useDeploymentRef();
  const { head } = tail;
  const last = Math.max(head, 1);
  const back = () => go(Math.min(seq, head) - 1);
  useShortcuts([
    { keys: 'k', words: 'Previous entry', run: () => seq > 1 && back() },
    { keys: 'j', words: 'Next entry', run: () => seq < head && go(seq + 1) },
    { keys: 'n', words: 'Back to now', run: () => go(undefined) },
  ]);
  return (
    <section
      aria-label="Position in the journal"
      className="sticky top-12 z-10 rounded-lg border border-line bg-surface px-3.5 py-2.5 shadow-xs"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-2">
        <Step label="Previous entry" sign="‹" isOff={seq <= 1} onClick={back} />
        <Step label="Next entry" sign="›" isOff={seq >= head} onClick={() => go(seq + 1)} />
        <SeqField />
        <Play />
        <JumpToTime />
        <span role="status">
          <Following isNewest={seq >= head} {...following} />
        </span>
        <div className="ml-auto flex flex-wrap items-center gap-2">
          {!isFollowing && (
            <Button size="small" onClick={() => go(undefined)}>
              Back to now
            </Button>
          )}
          <ButtonLink
            size="small"
            to="/worlds/$world/deployments/$deployment/compare"
            params={ref}
            search={{ at: Math.max(seq, 1) }}
          >
            Compare
          </ButtonLink>
          <ButtonLink
            size="small"
            to="/worlds/$world/deployments/$deployment/what-if"
            params={ref}
            search={{ from: Math.max(seq, 2) }}
          >
            What if
          </ButtonLink>
          <Fork />
        </div>
      </div>
      <input
        type="range"
        aria-label="State after entry"
        aria-valuetext={`entry ${seq} of ${head}`}
        className="mt-2 block w-full accent-accent"
        min={1}
        max={last}
        value={Math.min(seq, last)}
        onChange={({ target }) => go(Number(target.value))}
      />
      <Failures />
      <p role="status" className="text-sm text-muted">
        {missing !== undefined &&
          `The journal ends at entry ${shown(head)}: there is no entry ${shown(missing)} yet. The newest one is shown.`}
      </p>
    </section>
  );
}

const shown = (seq: number): string => seq.toLocaleString('en');

interface StepProps {
  label: string;
  sign: string;
  isOff: boolean;
  onClick: () => void;
}

const Step = ({ label, sign, isOff, onClick }: StepProps) => (
  <Button size="small" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
    <span aria-hidden="true" className="text-lg leading-4">
      {sign}
    </span>
  </Button>
);

type FollowingProps = Omit<PositionProps, 'missing'> & { isNewest: boolean };

function Following({ isNewest, isFollowing, isFollowed, lostAt }: FollowingProps) {
  const timeText = useTimeText();
  if (!isFollowing) return isNewest ? <Badge>newest</Badge> : <Badge tone="warn">the past</Badge>;
  if (!isFollowed) return <Badge>not followed</Badge>;
  if (lostAt !== undefined) return <Badge tone="warn">reconnecting since {timeText(lostAt).slice(11)}</Badge>;
  return (
    <Badge tone="ok">
      <span aria-hidden="true" className="size-1.5 rounded-full bg-ok" /> live
    </Badge>
  );
}

function SeqField() {
  const { tail, seq, go } = useLive();
  const [typed, setTyped] = useState<string>();
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const wanted = Number(typed);
    if (key === 'Enter' && Number.isSafeInteger(wanted) && wanted >= 1) go(wanted);
    if (key === 'Enter' || key === 'Escape') setTyped(undefined);
  };
  return (
    <span className="inline-flex items-center gap-1.5 text-muted">
      <label className="inline-flex items-center gap-1.5">
        entry
        <input
          inputMode="numeric"
          className="control w-24 py-0.5 text-right font-medium"
          value={typed ?? String(seq)}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={() => setTyped(undefined)}
          onKeyDown={onKeyDown}
        />
      </label>
      of {shown(tail.head)}
    </span>
  );
}

/** The address follows the slider when it has rested this long, in milliseconds: browsers bound how often it may change. */
const REST_MS = 200;

/** Where in the journal one is: what the address says, or the slider while it moves. */
export function usePosition(journal: Live['journal'], head: number) {
  const [search, change] = useLiveSearch();
  const [moving, setMoving] = useState<{ to: number | undefined }>();
  const [missing, setMissing] = useState<number>();
  useEffect(() => {
    if (moving === undefined) return;
    const timer = setTimeout(() => {
      void change({ seq: moving.to }).then(() => setMoving((now) => (now === moving ? undefined : now)));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [moving, change]);
  const asked = moving === undefined ? search.seq : moving.to;
  const { end, isSure } = useEnd(journal, head, asked);
  const isMissing = isSure && asked !== undefined && asked > end;
  useEffect(() => {
    if (!isMissing) return;
    setMissing(asked);
    setMoving({ to: undefined });
  }, [isMissing, asked]);
  const go = useCallback((to: number | undefined) => {
    setMissing(undefined);
    setMoving({ to });
  }, []);
  return {
    seq: Math.min(asked ?? head, end),
    rested: Math.min(search.seq ?? head, end),
    isFollowing: asked === undefined || asked > end,
    missing: asked === undefined && missing !== undefined && missing > head ? missing : undefined,
    go,
  };
}

/** Where the journal ends. The stream may lag: of an entry after the known end the server is asked. */
function useEnd(journal: Live['journal'], head: number, asked: number | undefined) {
  const isAfter = asked !== undefined && asked > head;
  const query = useQuery({ ...journal.end(asked), enabled: isAfter });
  return { end: Math.max(head, (isAfter && query.data) || 0), isSure: !isAfter || query.data !== undefined };
}
