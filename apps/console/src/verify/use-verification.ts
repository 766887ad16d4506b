import type { VerifiedHistory } from '@orrery/sdk';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { DeploymentRef } from '../api/records.js';
import { endIfRefused } from '../session/session.js';
import { useSession } from '../session/use-session.js';

export type Verification =
  | { readonly kind: 'idle' }
  /** `last` is 0 until the first entry was checked. */
  | { readonly kind: 'running'; readonly seq: number; readonly last: number }
  | { readonly kind: 'ended'; readonly verified: VerifiedHistory; readonly ms: number }
  | { readonly kind: 'failed'; readonly error: unknown };

/** How often progress is shown, in milliseconds. */
const SHOWN_EVERY_MS = 100;

/** A verification that runs in this page, and ends when one leaves it. */
export function useVerification({ world, deployment }: DeploymentRef) {
  const session = useSession();
  const [state, setState] = useState<Verification>({ kind: 'idle' });
  const running = useRef<AbortController>(null);
  const stop = useCallback(() => {
    running.current?.abort();
    setState({ kind: 'idle' });
  }, []);
  useEffect(() => () => running.current?.abort(), []);
  const start = () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    running.current = leaving;
    /** A verification that was stopped says nothing more. */
    const show = (next: Verification) => {
      if (!signal.aborted) setState(next);
    };
    show({ kind: 'running', seq: 0, last: 0 });
    const from = performance.now();
    const onProgress = atMostEvery(SHOWN_EVERY_MS, (seq, last) => show({ kind: 'running', seq, last }));
    verifyHere(() => session.orrery.deployment(world, deployment).verifyHistory({ signal, onProgress })).then(
      (verified) => show({ kind: 'ended', verified, ms: performance.now() - from }),
      (error: unknown) => {
        endIfRefused(session, error);
        show({ kind: 'failed', error });
      },
    );
  };
  return { state, start, stop };
}

async function verifyHere(verify: () => Promise<VerifiedHistory>): Promise<VerifiedHistory> {
  if (globalThis.isSecureContext) return verify();
  throw new Error(
    'Browsers compute hashes only on pages over HTTPS or from this machine. Open the console in such a way.',
  );
}

type Progressed = (seq: number, last: number) => void;

function atMostEvery(ms: number, show: Progressed): Progressed {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (seq, last) => {
    const now = performance.now();
    if (now - shownAt < ms) return;
    shownAt = now;
    show(seq, last);
  };
}
