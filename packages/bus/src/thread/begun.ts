/** What this thread has begun at the host, each under an id, until a signal ends it. */
export interface Begun<Receive> {
  get(id: number): Receive | undefined;
  /** `ask` tells the host of the new id. */
  begin(receive: Receive, signal: AbortSignal, ask: (id: number) => Promise<void>): Promise<void>;
}

/** `nextId` is shared by all that one host knows by id; `end` tells the host of the end of one. */
export function createBegun<Receive>(nextId: () => number, end: (id: number) => void): Begun<Receive> {
  const receivers = new Map<number, Receive>();
  return {
    get: (id) => receivers.get(id),
    begin: async (receive, signal, ask) => {
      const id = nextId();
      receivers.set(id, receive);
      await ask(id);
      const stop = () => {
        receivers.delete(id);
        end(id);
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    },
  };
}
