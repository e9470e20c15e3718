import Joi from 'joi';

/** A channel as the API shows it: one of the labels that an organization's links may carry (contract/links 5). */
export type Channel = {id: string; name: string; createdAt: Date};

/**
 * Letters and digits of any script, and between them spaces and `_ - . : /`. A channel is shown and completed in
 * terminals, so it is no option, no command and no control character there.
 */
const name = Joi.string()
	.trim()
	.max(50)
	.pattern(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.:/-]*$/u)
	.message('{{#label}} must begin with a letter or digit and consist of letters, digits, spaces, _ - . : and /');

export const newChannel = Joi.object<{name: string}>({name: name.required()});
export const channelChanges = Joi.object<{name?: string}>({name});
