import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, by parts of their names, the longest first. */
const LONGEST = [
  'move-kills.ext',
  'tamperings.ext',
  'payment-faults.ext',
  'console/robust.ext',
  'docs-site.ext',
  'world-model.ext',
  'bad-start.ext',
  'console/worlds.ext',
  'chains-and-payments.ext',
  'payment-kills.ext',
  'follow-journal.int',
  'pages.e2e',
  'access-matrix.e2e',
];

/**
 * Begins with the longest files: one that begins last runs alone at the end. Vitest by itself knows their times only where
 * they have run before.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.includes(name));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
