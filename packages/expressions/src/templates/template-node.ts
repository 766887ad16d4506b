import type { JsonValue } from '@orrery/contracts';
import type { Frame } from '../cel/frame.js';
import type { ResultRoom } from '../cel/values/to-json.js';
import type { Placeholder } from './compile-placeholder.js';

/** One evaluation of a whole template. */
export interface TemplateRun {
  readonly frame: Frame;
  readonly room: ResultRoom;
  /** The placeholder being evaluated, for the failure's report. */
  current: Placeholder | undefined;
}

/** A compiled part of a template: writes its JSON. `depth` is its nesting in the result. */
export type TemplateNode = (run: TemplateRun, depth: number) => JsonValue;

/** A template ready to be evaluated; made by `compileTemplate`, opaque to its users. */
export interface CompiledTemplate {
  readonly root: TemplateNode;
}
