import { type ContentLimits, DEFAULT_CONTENT_LIMITS, MOST_CONTENT } from '@orrery/contracts';
import { type Environment, EnvironmentError, readEnvironment, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';

const KIB = 1024;
const count = (limit: keyof ContentLimits, what: string) =>
  wholeNumber({ min: 1, max: MOST_CONTENT[limit], what: `${what}, 1 to ${MOST_CONTENT[limit]}` }).default(
    DEFAULT_CONTENT_LIMITS[limit],
  );
const kib = (limit: keyof ContentLimits, what: string) => {
  const max = MOST_CONTENT[limit] / KIB;
  return wholeNumber({ min: 1, max, what: `KiB that ${what} may take, 1 to ${max}` })
    .default(DEFAULT_CONTENT_LIMITS[limit] / KIB)
    .transform((size) => size * KIB);
};

const environment = z.object({
  MAX_INPUT_KIB: kib('inputBytes', "an execution's input"),
  MAX_STATE_KIB: kib('stateBytes', "an instance's state"),
  MAX_ENTRY_KIB: kib('entryBytes', 'a journal entry'),
  MAX_PROMPT_KIB: kib('promptBytes', 'a prompt'),
  MAX_DESCRIPTION_KIB: kib('descriptionBytes', 'a description'),
  MAX_DOMAIN_TAGS: count('domainTags', 'tags that a world may have'),
  MAX_DOMAIN_TAG_LENGTH: count('domainTagCharacters', 'characters that a tag may have'),
  MAX_BINDINGS_PER_DEPLOYMENT: count('bindingsPerDeployment', 'bindings that a deployment may have'),
});

/**
 * The limits that several services apply to one thing: give all of them the same variables.
 * @throws EnvironmentError naming every variable that is wrong
 */
export function readContentLimits(env: Environment): ContentLimits {
  const read = readEnvironment(environment, env);
  if (read.MAX_ENTRY_KIB < Math.max(read.MAX_INPUT_KIB, read.MAX_STATE_KIB))
    throw new EnvironmentError([
      'MAX_ENTRY_KIB (not valid; expected at least MAX_INPUT_KIB and MAX_STATE_KIB, because an entry holds both)',
    ]);
  return {
    inputBytes: read.MAX_INPUT_KIB,
    stateBytes: read.MAX_STATE_KIB,
    entryBytes: read.MAX_ENTRY_KIB,
    promptBytes: read.MAX_PROMPT_KIB,
    descriptionBytes: read.MAX_DESCRIPTION_KIB,
    domainTags: read.MAX_DOMAIN_TAGS,
    domainTagCharacters: read.MAX_DOMAIN_TAG_LENGTH,
    bindingsPerDeployment: read.MAX_BINDINGS_PER_DEPLOYMENT,
  };
}
