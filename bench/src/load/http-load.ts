import type { Rate } from '../measuring/report.js';
import { runTool } from '../measuring/run-tool.js';
import { TICK } from '../systems/set-up.js';

export interface HttpLoad {
  readonly url: string;
  /** Default: none is sent. */
  readonly key?: string;
  /** What is POSTed, each as often as the others. Default: an execution. */
  readonly bodies?: readonly object[];
  readonly connections: number;
  readonly seconds: number;
  /** POSTs an execution by default. */
  readonly method?: 'GET' | 'POST';
  /** Paths to send requests to, taken in a random order. */
  readonly paths: readonly string[];
}

/** Requests of a file, each sent once, as `SignedRequests` writes them. */
export interface FileLoad extends Pick<HttpLoad, 'url' | 'connections' | 'seconds'> {
  readonly file: string;
}

/** Requests answered with 200. @throws Error when any was answered otherwise. */
export const runHttpLoad = (load: HttpLoad): Promise<Rate> => runScript(load, scriptOf(load));

/** The same for requests that are sent once. @throws Error when the file has too few */
export const runFileLoad = (load: FileLoad): Promise<Rate> => runScript(load, fileScriptOf(load));

async function runScript(
  { connections, seconds, url }: Pick<HttpLoad, 'url' | 'connections' | 'seconds'>,
  text: string,
): Promise<Rate> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency'];
  return rateOf(await runTool('wrk', text, (file) => [...options, '-s', file, url]));
}

function rateOf(printed: string): Rate {
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(printed);
  const broken = /Socket errors: connect ([1-9]\d*)|read ([1-9]\d*)/.exec(printed);
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1];
  if (refused || broken || rate === undefined) throw new Error(`the load was not served:\n${printed}`);
  const count = Number(/(\d+) requests in/.exec(printed)?.[1]);
  return { perSecond: Number(rate), count, p50Ms: latency(printed, 50), p99Ms: latency(printed, 99) };
}

const MILLISECONDS = { us: 0.001, ms: 1, s: 1000 };

function latency(printed: string, percent: number): number {
  const [, value, unit] = new RegExp(`^ *${percent}% +([\\d.]+)(us|ms|s)\\s*$`, 'm').exec(printed) ?? [];
  return Number(value) * MILLISECONDS[unit as keyof typeof MILLISECONDS];
}

/** Requests are formatted once, so that the generator costs little. */
const scriptOf = ({ key = '', paths, method = 'POST', bodies = [TICK] }: HttpLoad): string => `
local headers = { ["Authorization"] = "Bearer ${key}", ["Content-Type"] = "application/json" }
local bodies = { ${bodies.map((body) => `[[${JSON.stringify(body)}]]`).join(', ')} }
local paths = { ${paths.map((path) => `"${path}"`).join(', ')} }
local requests = {}
init = function()
  for _, path in ipairs(paths) do
    for _, body in ipairs(bodies) do
      requests[#requests + 1] = wrk.format("${method}", path, headers${method === 'POST' ? ', body' : ''})
    end
  end
end
request = function() return requests[math.random(#requests)] end
`;

/** Read as they are sent, since a file read beforehand would be measured too. One beyond the last is refused by its path. */
const fileScriptOf = ({ file }: FileLoad): string => `
local file
init = function() file = io.open("${file}") end
request = function()
  local length = file:read("*n")
  if not length then return wrk.format("GET", "/the-file-is-too-short") end
  file:read(1)
  return file:read(length)
end
`;
