// Package present shows what an operation answered: as one envelope of structured content and as the same facts in
// compact text for the model, projected to the wanted detail once for both.
package present
