# The component of Open MPI's coll framework.
ompi_component_LTLIBRARIES =
ompi_componentdir = $(OMPI_COMPONENT_DIR)
