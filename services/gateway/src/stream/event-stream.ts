import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Server-sent events to one client (HTML Living Standard §9.2). Nothing is buffered here beyond the socket. */
export interface EventStream {
  /** Resolves when the client has taken it. Rejects when the signal aborts first. */
  send(event: string, id: number | undefined, data: unknown): Promise<void>;
  /** Keeps the connection open through proxies and moves the client's last id on. */
  beat(id: number): void;
  end(): void;
}

export function openEventStream(response: ServerResponse, signal: AbortSignal): EventStream {
  return {
    send: async (event, id, data) => {
      const head = id === undefined ? '' : `id: ${id}\n`;
      const isTaken = response.write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      if (!isTaken) await once(response, 'drain', { signal });
    },
    beat: (id) => {
      // A client that does not take what it was sent gets no more of it.
      if (!response.writableNeedDrain) response.write(`: still here\nid: ${id}\n\n`);
    },
    end: () => response.end(),
  };
}
