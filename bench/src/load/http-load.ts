import { runTool } from '../measuring/run-tool.js';
import { TICK } from '../systems/set-up.js';

export interface HttpLoad {
  readonly url: string;
  readonly key: string;
  readonly connections: number;
  readonly seconds: number;
  /** POSTs an execution by default. */
  readonly method?: 'GET' | 'POST';
  /** Paths to send requests to, taken in a random order. */
  readonly paths: readonly string[];
}

/** Requests of a file, each sent once: a line with the path and one with the body. */
export interface FileLoad extends Pick<HttpLoad, 'url' | 'connections' | 'seconds'> {
  readonly file: string;
}

/** Requests answered with 200, per second. @throws Error when any was answered otherwise. */
export const runHttpLoad = (load: HttpLoad): Promise<number> => runScript(load, scriptOf(load));

/** The same for requests that are sent once. @throws Error when the file has too few */
export const runFileLoad = (load: FileLoad): Promise<number> => runScript(load, fileScriptOf(load));

async function runScript(
  { connections, seconds, url }: Pick<HttpLoad, 'url' | 'connections' | 'seconds'>,
  text: string,
): Promise<number> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency'];
  return rateOf(await runTool('wrk', text, (file) => [...options, '-s', file, url]));
}

function rateOf(printed: string): number {
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(printed);
  const broken = /Socket errors: connect ([1-9]\d*)|read ([1-9]\d*)/.exec(printed);
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(printed)?.[1];
  if (refused || broken || rate === undefined) throw new Error(`the load was not served:\n${printed}`);
  return Number(rate);
}

/** Requests are formatted once, so that the generator costs little. */
const scriptOf = ({ key, paths, method = 'POST' }: HttpLoad): string => `
local headers = { ["Authorization"] = "Bearer ${key}", ["Content-Type"] = "application/json" }
local body = [[${JSON.stringify(TICK)}]]
local paths = { ${paths.map((path) => `"${path}"`).join(', ')} }
local requests = {}
init = function()
  for i, path in ipairs(paths) do requests[i] = wrk.format("${method}", path, headers${method === 'POST' ? ', body' : ''}) end
end
request = function() return requests[math.random(#requests)] end
`;

/** A request beyond the last one is refused by its path, which fails the run. */
const fileScriptOf = ({ file }: FileLoad): string => `
local headers = { ["Content-Type"] = "application/json" }
local requests, sent = {}, 0
init = function()
  local path
  for line in io.lines("${file}") do
    if path then requests[#requests + 1] = wrk.format("POST", path, headers, line); path = nil else path = line end
  end
end
request = function()
  sent = sent + 1
  return requests[sent] or wrk.format("GET", "/the-file-is-too-short")
end
`;
