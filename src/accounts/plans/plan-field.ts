import Joi from 'joi';

/** The name of a plan in a body. The plans file defines the names, so an unknown one is refused later. */
export const planField = Joi.string()
	.max(50)
	.meta({schema: {description: 'The name of a plan of this installation, in upper or lower case.'}});
