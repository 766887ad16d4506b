import { runTool } from '../measuring/run-tool.js';

export interface Streams {
  readonly url: string;
  /** Of the stream that all of them follow. */
  readonly path: string;
  readonly streams: number;
  readonly seconds: number;
}

/** Holds streams open and reads what they send. @throws Error when one was refused or nothing came */
export async function holdStreams({ url, path, streams, seconds }: Streams): Promise<void> {
  const script = `wrk.path = "${path}"`;
  const printed = await runTool('wrk', script, (file) => [
    '-t1',
    `-c${streams}`,
    `-d${seconds}s`,
    ...['--timeout', `${seconds}s`, '-s', file, url],
  ]);
  const isRefused = /Non-2xx or 3xx responses|connect [1-9]|read [1-9]/.test(printed);
  // Without entries a stream sends some hundred bytes.
  const isFed = /\s[1-9][\d.]*[MG]B read/.test(printed);
  if (isRefused || !isFed) throw new Error(`the streams were not served:\n${printed}`);
}
