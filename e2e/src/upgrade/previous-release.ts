/** The commit of the release before: an upgrade from it is tested. A release puts its own here. */
export const PREVIOUS_RELEASE = 'b2687493d037f55f4a483383158a3a8e4f0cd952';
