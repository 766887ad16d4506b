export { entities, raceDefinition } from './answers/race.test-support.js';
export { definitionOf, executionOf, schemaOf, viewOf } from './execution/execution.test-support.js';
