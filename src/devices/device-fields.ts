import Joi from 'joi';

/** The id that an app gave its device (interface 2). */
export const deviceIdField = Joi.string()
	.min(8)
	.max(100)
	.messages({'string.empty': '{{#label}} must be longer than or equal to 8 characters'});

const TOLD_LIMIT = 100;

/** Something that a device tells of itself: cut where it is too long, never refused (facts 4.9). */
export const toldField = Joi.string()
	.allow('', null)
	.meta({schema: {description: `Cut to ${TOLD_LIMIT} characters.`}})
	.custom((text: string) => text.slice(0, TOLD_LIMIT).toWellFormed());
