// Which subsystems the costliest lines belong to.

class SubsystemsSection {
  constructor(view) {
    this.view = view;
  }

  show() {
    const { view } = this;
    view.draw("subsystems", "subsystems", view.run.subsystems.filter((row) => row.point === view.number));
  }
}
