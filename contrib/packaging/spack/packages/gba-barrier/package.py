# SPDX-License-Identifier: BSD-3-Clause
import os

from spack.package import *

try: # from Spack 1.0 on
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class GbaBarrier(AutotoolsPackage):
    """Barriers of MPI and OpenSHMEM on a Global Barrier Accelerator (GBA), a unit of a network switch
    that completes barriers: components for Open MPI, and libgba. Without a GBA they are software barriers."""

    homepage = "file://."
    # No server has a release. Spack reads the file of "make dist" from the current directory or a mirror.
    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")

    variant("openmpi", default=True, description="Build the components for Open MPI; without, libgba alone")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    # For the distances to the devices of a host.
    depends_on("hwloc@2:")
    # For programs without MPI that a launcher starts.
    depends_on("pmix")
    # For gba-switchd.
    depends_on("libevent@2.1:")
    # Its internal headers are needed: an external Open MPI that was configured with --with-devel-headers.
    depends_on("openmpi@4.1:6", when="+openmpi")

    def url_for_version(self, version):
        return "file://{0}/gba-barrier-{1}.tar.xz".format(os.getcwd(), version)

    def configure_args(self):
        # A compiler of Spack's may know warnings that ours does not.
        args = ["--disable-werror"]
        if self.spec.satisfies("+openmpi"):
            args.append("--with-ompi={0}".format(self.spec["openmpi"].prefix))
            args.append("--with-component-dir={0}".format(self.prefix.lib.openmpi))
        else:
            args.append("--without-ompi")
        return args

    def setup_run_environment(self, env):
        # SYS_DEFAULT first: without it Open MPI does not find its own components.
        if self.spec.satisfies("+openmpi"):
            env.prepend_path("OMPI_MCA_mca_base_component_path", self.prefix.lib.openmpi)
            env.prepend_path("OMPI_MCA_mca_base_component_path", "SYS_DEFAULT")
