import type { VerifiedHistory } from '@orrery/sdk';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Notice, numberText } from '../ui/parts.js';
import { orrery } from '../world/read-world.js';
import type { PublicDeployment } from '../world/records.js';
import { verdictOf } from './verdict.js';

type Checking =
  | { readonly kind: 'none' }
  | { readonly kind: 'checking'; readonly seq: number; readonly last: number }
  | { readonly kind: 'checked'; readonly found: VerifiedHistory }
  | { readonly kind: 'failed'; readonly text: string };

/** Entries between two steps of the bar. */
const STEP = 50;

/** Checks the whole history in the browser, with one click, and says what that has proven. */
export function VerifySection({ deployment: { address, isCodePublic } }: { deployment: PublicDeployment }) {
  const [checking, setChecking] = useState<Checking>({ kind: 'none' });
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const verify = () => {
    leaving.current?.abort();
    const one = new AbortController();
    leaving.current = one;
    const { signal } = one;
    setChecking({ kind: 'checking', seq: 0, last: 0 });
    const onProgress = (seq: number, last: number) => {
      if (seq % STEP === 0) setChecking({ kind: 'checking', seq, last });
    };
    orrery
      .published(address)
      .verifyHistory({ decisions: isCodePublic, signal, onProgress })
      .then(
        (found) => setChecking({ kind: 'checked', found }),
        (error: Error) => {
          if (!signal.aborted) setChecking({ kind: 'failed', text: error.message });
        },
      );
  };
  return (
    <section class="card verify" aria-labelledby="verify">
      <h2 id="verify">Can I trust this?</h2>
      <p>Your browser can check the whole history itself, without taking the server's word for it.</p>
      {globalThis.crypto?.subtle === undefined ? (
        <Notice tone="warn">To verify, the page has to be opened over HTTPS.</Notice>
      ) : checking.kind === 'checking' ? (
        <Progress
          {...checking}
          onStop={() => {
            leaving.current?.abort();
            setChecking({ kind: 'none' });
          }}
        />
      ) : (
        <button type="button" onClick={verify}>
          {checking.kind === 'none' ? 'Verify' : 'Verify again'}
        </button>
      )}
      {checking.kind === 'failed' && (
        <Notice tone="warn">It could not be checked to the end, so nothing is proven: {checking.text}</Notice>
      )}
      {checking.kind === 'checked' && <Found found={checking.found} />}
    </section>
  );
}

function Progress({ seq, last, onStop }: { seq: number; last: number; onStop: () => void }) {
  return (
    <>
      <label class="field">
        <span>{last === 0 ? 'Reading…' : `${numberText(seq)} of ${numberText(last)} entries hold`}</span>
        <progress max={Math.max(1, last)} value={seq} />
      </label>
      <button type="button" class="quiet" onClick={onStop}>
        Stop
      </button>
    </>
  );
}

function Found({ found }: { found: VerifiedHistory }) {
  const { isValid, text, trust } = verdictOf(found);
  return (
    <>
      <Notice tone={isValid ? 'ok' : 'bad'}>{text}</Notice>
      <p class="muted">{trust}</p>
      <p class="hash">
        Entry {found.entries}: <code>{found.hash}</code>
      </p>
    </>
  );
}
