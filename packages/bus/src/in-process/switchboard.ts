import type { Canceller } from '@orrery/contracts';
import { awaitAnswer } from '../calls/await-answer.js';
import { goneError, isLate } from '../calls/late.js';
import { nobody } from '../calls/nobody.js';
import type { RunningCalls } from '../calls/running-calls.js';
import type { Answer, Frame, RequestOptions } from '../transport.js';

/** One process's part in a subject; `running` counts the calls that it works on. */
interface Member {
  readonly answer: Answer;
  readonly running: RunningCalls;
}

export interface Switchboard {
  request(subject: string, frame: Frame, options: RequestOptions): Promise<Frame>;
  /** @returns how to leave again. */
  join(subject: string, member: Member): () => void;
  broadcast(subject: string, frame: Frame): void;
  listen(subject: string, receive: (frame: Frame) => void): () => void;
}

interface Group {
  members: readonly Member[];
  turn: number;
}

/** Connects the services of one process. Members of a subject take turns; delivery is a microtask away. */
export function createSwitchboard(): Switchboard {
  const groups = new Map<string, Group>();
  const listeners = new Map<string, Set<(frame: Frame) => void>>();
  let count = 0;

  const request: Switchboard['request'] = (subject, frame, options) => {
    const group = groups.get(subject);
    const member = group?.members[group.turn++ % group.members.length];
    if (member === undefined) return Promise.reject(nobody());
    count += 1;
    return ask(member, String(count), frame, options);
  };
  const join: Switchboard['join'] = (subject, member) => {
    const group = groups.get(subject) ?? { members: [], turn: 0 };
    groups.set(subject, group);
    group.members = [...group.members, member];
    return () => {
      group.members = group.members.filter((other) => other !== member);
    };
  };
  const listen: Switchboard['listen'] = (subject, receive) => {
    const receivers = listeners.get(subject) ?? new Set();
    listeners.set(subject, receivers);
    receivers.add(receive);
    return () => receivers.delete(receive);
  };
  const broadcast: Switchboard['broadcast'] = (subject, frame) => {
    for (const receive of listeners.get(subject) ?? []) queueMicrotask(() => receive(frame));
  };
  return { request, join, listen, broadcast };
}

function ask({ answer, running }: Member, id: string, frame: Frame, options: RequestOptions): Promise<Frame> {
  let call: Canceller | undefined;
  return awaitAnswer<Frame>(
    options,
    ({ resolve }) => {
      const started = running.start(id);
      call = started;
      queueMicrotask(() => {
        void answer(frame, started).then((reply) => {
          running.end(id);
          resolve(reply);
        });
      });
    },
    (reason) => call?.abort(isLate(reason) ? reason : goneError()),
  );
}
