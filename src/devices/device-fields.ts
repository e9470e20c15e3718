import Joi from 'joi';

const SHORTEST_ID = 8;

/** An empty text is too short as any other is. Messages of the field's own would be put to the others for each value. */
const tooShort = (errors: Joi.ErrorReport[]): Joi.ErrorReport[] =>
	errors.map((error) =>
		error.code === 'string.empty'
			? Object.assign(error, {
					message: `${error.local.label} must be longer than or equal to ${SHORTEST_ID} characters`,
				})
			: error,
	);

/** The id that an app gave its device (contract/sdk 2). */
export const deviceIdField = Joi.string().min(SHORTEST_ID).max(100).error(tooShort);

const TOLD_LIMIT = 100;

/** Something that a device tells of itself: cut where it is too long, never refused (contract/match 9). */
export const toldField = Joi.string()
	.allow('', null)
	.meta({schema: {description: `Cut to ${TOLD_LIMIT} characters.`}})
	.custom((text: string) => text.slice(0, TOLD_LIMIT).toWellFormed());
